// SPDX-License-Identifier: Apache-2.0
// A template of shell: each value becomes one quoted word, wherever in the script it stands. Pure.
#pragma once

#include "core/script/template/render.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace dts::script {

// Follows the script's own text as bash(1) reads it ("QUOTING", "Here Documents", "EXPANSION"). A
// value is refused where a quoted word would not stay one: inside quotes, backticks,
// here-documents, ${...}, arithmetic and subscripts, and right behind a `$` or a backslash. In a
// comment it stands as it is. A value with a control byte is refused everywhere, and so is
// {{{name}}} of anything but finished text.
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
    here_word,  // behind <<
    here_document,
  };

  struct HereDocument {
    std::string end;           // the line that ends it
    bool strips_tabs = false;  // <<-
    char quote = 0;            // open in the word behind <<
  };

  void read(std::string_view text);
  void read(char c);
  void read_plain(char c);
  void count_brackets(char c, char before);
  void end_line();
  void read_here_word(char c);
  void read_here_document(char c);
  [[nodiscard]] bool begins_word() const;
  [[nodiscard]] std::string unsafe_place() const;  // empty: a quoted word is one here

  Place place_ = Place::plain;
  bool escaped_ = false;      // the last byte was a backslash that counts
  unsigned braces_ = 0;       // open ${
  unsigned parentheses_ = 0;  // open, of arithmetic
  bool subscript_ = false;    // behind name[
  std::string line_;          // of the script so far: its plain text, or that of a here-document
  std::vector<HereDocument> documents_;  // begun on this line, or being read
};

}  // namespace dts::script
