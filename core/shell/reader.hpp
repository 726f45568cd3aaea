// SPDX-License-Identifier: Apache-2.0
// Reads a script from front to back. The methods are defined in one file for each part of the
// grammar. Internal to this folder.
#pragma once

#include "core/shell/syntax.hpp"

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

namespace dts::shell {

class Reader {
 public:
  explicit Reader(std::string_view text) : text_(text), end_(text.size()) {}

  [[nodiscard]] Script read();

 private:
  // What ends a word, besides a blank.
  enum class WordEnd {
    operators,  // ; & | < > ( ) and a newline
    blank,      // nothing else: between [[ and ]]
  };

  struct PendingDocument {
    std::size_t index;  // in script_.here_documents
    std::string delimiter;
    bool strips_tabs;
  };

  // reader.cpp
  [[nodiscard]] bool done() const { return at_ >= end_; }

  [[nodiscard]] char peek(std::size_t ahead = 0) const {
    return at_ + ahead < end_ ? text_[at_ + ahead] : '\0';
  }

  [[nodiscard]] bool next_is(std::string_view what) const {
    return at_ + what.size() <= end_ && text_.substr(at_, what.size()) == what;
  }

  // The next position of one of these characters, or the end.
  [[nodiscard]] std::size_t end_of_run(std::string_view ends) const {
    return std::min(text_.substr(0, end_).find_first_of(ends, at_), end_);
  }

  [[nodiscard]] bool sees_keyword(std::string_view keyword) const;
  bool take(std::string_view what);
  bool take_keyword(std::string_view keyword);
  void skip_blanks();    // also comments and joined lines
  void skip_newlines();  // newlines and all that skip_blanks() skips
  void take_newline();   // also reads the here-documents that begin after it
  void complain(Span span, std::string message);
  // Stops because of the nesting: the rest of the text is skipped.
  void give_up();

  // statements.cpp
  [[nodiscard]] Statements statements();
  [[nodiscard]] bool at_end_of_statements() const;
  [[nodiscard]] Statement statement();
  [[nodiscard]] Pipeline pipeline();
  [[nodiscard]] Command command();
  [[nodiscard]] Command simple_command();
  bool read_argument(Command& command);
  [[nodiscard]] bool at_end_of_command() const;

  // compound.cpp
  [[nodiscard]] bool read_compound(Command& command);
  void read_branch(Command& command);
  void read_loop(Command& command);
  void read_each(Command& command);
  void read_choice(Command& command);
  void read_choices(Command& command);
  void read_function(Command& command);
  // Reads () BODY after a NAME; false: the parentheses are not those of a function.
  [[nodiscard]] bool read_body_of_name(Command& command);
  void read_function_body(Command& command);
  void read_group(Command& command, Command::Kind kind, char close);
  void read_test(Command& command);
  [[nodiscard]] bool read_arithmetic_command(Command& command);
  void read_do_group(Command& command, std::size_t begin, const char* name);
  void expect(std::string_view keyword, std::size_t begin, std::string_view opener);

  // redirections.cpp
  [[nodiscard]] bool at_redirection() const;
  [[nodiscard]] Redirection redirection();
  void redirections(Command& command);
  void read_here_documents();
  void read_here_document(const PendingDocument& pending);

  // assignments.cpp
  [[nodiscard]] std::size_t assignment_length() const;
  [[nodiscard]] Assignment assignment();
  void read_elements(Assignment& assignment);

  // words.cpp
  [[nodiscard]] Word word(WordEnd end);
  [[nodiscard]] bool read_piece(Word& word, WordEnd end);
  [[nodiscard]] bool ends_word(WordEnd end) const;
  void read_plain(Word& word);
  void read_backslash(Word& word, bool in_quotes);
  void read_single_quotes(Word& word);
  void read_ansi_quotes(Word& word);
  void read_double_quotes(Word& word);
  void read_pattern(Word& word);

  // expansions.cpp
  void read_dollar(Word& word, bool quoted);
  void read_braces(Word& word, bool quoted);
  void read_substitution(Word& word, Piece::Kind kind, bool quoted);
  void read_backquotes(Word& word, bool quoted);
  [[nodiscard]] bool read_arithmetic(Word& word, std::size_t brackets, bool quoted);
  // The text from `begin` to `end`, which is outside of quotes: its expansions, and all else
  // unchanged.
  [[nodiscard]] Word expanded_text(std::size_t begin, std::size_t end, bool is_literal);
  [[nodiscard]] std::size_t end_of_arithmetic(std::size_t from) const;
  [[nodiscard]] std::size_t end_of_old_arithmetic(std::size_t from) const;

  std::string_view text_;
  std::size_t at_ = 0;
  std::size_t end_;
  int depth_ = 0;
  Script script_;
  std::vector<PendingDocument> pending_;

  friend class Nesting;
};

// Counts one construct within another for as long as it exists.
class Nesting {
 public:
  explicit Nesting(Reader& reader);
  ~Nesting();
  Nesting(const Nesting&) = delete;
  Nesting& operator=(const Nesting&) = delete;

  // False if constructs are nested too deeply; then the rest of the text has been skipped.
  [[nodiscard]] bool is_allowed() const { return is_allowed_; }

 private:
  Reader& reader_;
  bool is_allowed_;
};

// Appends to the word's last piece if this is a literal of the same kind; otherwise adds a piece.
void add_literal(Word& word, Span span, std::string_view text, bool quoted);

[[nodiscard]] inline bool is_blank_char(char c) {
  return c == ' ' || c == '\t' || c == '\r';
}

}  // namespace dts::shell
