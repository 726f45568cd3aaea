// SPDX-License-Identifier: Apache-2.0
// Renders a shell template: each value becomes one quoted word, wherever it appears. Pure.
#pragma once

#include "core/script/template/render.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace dts::script {

// Tracks the script's own text as bash(1) reads it ("QUOTING", "Here Documents", "EXPANSION"). A
// value is rejected where a quoted word would not stay one word: inside quotes, backticks,
// here-documents, ${...}, arithmetic and subscripts, and right after a `$` or a backslash. In a
// comment it is inserted unchanged. A value with a control byte is rejected everywhere, and so is
// {{{name}}} unless it is finished text.
class ShellOutput : public TemplateOutput {
 public:
  [[nodiscard]] Result<void> literal(std::string_view text) override;
  [[nodiscard]] Result<void> value(std::string_view text) override;
  [[nodiscard]] Result<void> raw(std::string_view text) override;
  [[nodiscard]] Result<void> finished(std::string_view text) override;

 private:
  enum class Place {
    plain,
    single_quotes,
    double_quotes,
    dollar_quotes,
    backticks,
    comment,
    here_word,  // after <<
    here_document,
  };

  struct HereDocument {
    std::string end;           // the delimiter line
    bool strips_tabs = false;  // <<-
    char quote = 0;            // the open quote in the word after <<
  };

  void read(std::string_view text);
  void read(char c);
  void read_plain(char c);
  void count_brackets(char c, char before);
  void end_line();
  void read_here_word(char c);
  void read_here_document(char c);
  [[nodiscard]] bool begins_word() const;
  [[nodiscard]] std::string unsafe_place() const;  // empty: a quoted word is safe here

  Place place_ = Place::plain;
  bool escaped_ = false;                 // the last byte was a backslash that escapes
  unsigned braces_ = 0;                  // open ${
  unsigned parentheses_ = 0;             // open parentheses of arithmetic
  bool subscript_ = false;               // after name[
  std::string line_;                     // the current line: plain text, or that of a here-document
  std::vector<HereDocument> documents_;  // begun on this line, or being read
};

}  // namespace dts::script
