// SPDX-License-Identifier: Apache-2.0
// Words of a command with the script's own variables replaced by their values, as far as these are
// certain, and written out as shell text again. Pure.
#pragma once

#include "core/convert/words/names.hpp"
#include "core/lint/script/values.hpp"
#include "core/shell/syntax.hpp"

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace dts::convert {

// A part of a word: text as it is, or shell text that is expanded where the word is used.
struct Segment {
  enum class Kind {
    literal,
    pattern,  // a literal in which * ? [ are expanded, and as typed also { and ~
    source,   // $NAME, ${NAME:-x}, $(...)
  };

  Kind kind = Kind::literal;
  std::string text;
  bool quoted = false;        // a source that stays one word
  bool is_of_script = false;  // a source whose value the script's own lines make
  bool is_blank = false;      // of those, one that is an argument of the script, not given
};

using FlatWord = std::vector<Segment>;

// Of its segments' texts, each of which counts even if it is empty.
[[nodiscard]] std::size_t size_of(const FlatWord& word);

// The word's text if nothing in it is expanded.
[[nodiscard]] std::optional<std::string> plain(const FlatWord& word);

// As shell text that means the same.
[[nodiscard]] std::string to_source(const FlatWord& word);
[[nodiscard]] std::string to_source(const std::vector<FlatWord>& words);

// A word that holds a script, bash -c TEXT, as that text; nullopt if an expansion of the outer
// shell would not happen in the inner one.
[[nodiscard]] std::optional<std::string> to_script(const FlatWord& word);

// A variable in it may be more than words: "cd x && prog". Those of the script are expanded by the
// shell that has them.
[[nodiscard]] bool may_hold_script(const FlatWord& text);

// For functions that examine options: sources are unknown values.
[[nodiscard]] std::vector<lint::ExpandedWord> to_expanded(const std::vector<FlatWord>& words);

// The inverse, for words that lint has expanded.
[[nodiscard]] FlatWord from_expanded(const lint::ExpandedWord& word);

// The variables of a script, followed from statement to statement.
class Inliner {
 public:
  // `text` holds all statements that are passed, and must outlive this.
  explicit Inliner(std::string_view text) : text_(text) {}

  // For a script that a shell of this one runs, `bash -c TEXT`: it sees what is exported.
  [[nodiscard]] Inliner inner(std::string_view text) const;

  // From now on, expands a name, or an element NODES[0], as another name: head_node_ip as
  // MASTER_ADDR.
  void rename(const std::string& name, const std::string& other) { others_[name] = other; }

  // No line of the script changes the folder: $PWD is the submission's folder.
  void keep_folder() { has_one_folder_ = true; }

  // $1, $2 and so on.
  void set_arguments(const std::vector<std::string>& arguments);
  // As `shift` and `set` leave them; nullopt: only the script's shell knows them.
  [[nodiscard]] std::optional<std::vector<std::string>> arguments() const;

  // False: the statement of a program changes the arguments that the script then has.
  [[nodiscard]] bool has_arguments_of_set_up() const { return has_arguments_of_set_up_; }

  // What `statement` sets; `is_certain`: it is run once and its values are read from its text.
  void follow(const shell::Statement& statement, bool is_certain);
  // The value is left to the shell from now on.
  void forget(const std::string& name);

  [[nodiscard]] std::vector<FlatWord> words(const shell::Word& word);
  [[nodiscard]] std::vector<FlatWord> words(const std::vector<shell::Word>& all);
  // NAME=value as one word.
  [[nodiscard]] FlatWord assignment(const shell::Assignment& one);

  // Replaced by their values so far.
  [[nodiscard]] const Names& inlined() const { return inlined_; }

  void add_inlined(const Names& names) { inlined_.insert(names.begin(), names.end()); }

 private:
  void assign(const shell::Assignment& one);
  [[nodiscard]] std::vector<FlatWord> as_written(const std::vector<shell::Word>& all);
  void assign_array(const shell::Assignment& one);
  void set_arguments(std::vector<FlatWord> arguments);
  void forget_arguments();
  void follow_arguments(const shell::Statement& statement, bool is_certain);
  void shift(const shell::Command& command);
  [[nodiscard]] const std::vector<FlatWord>* elements_of(const shell::Piece& piece) const;
  [[nodiscard]] bool makes_no_word(const shell::Word& word) const;
  [[nodiscard]] bool lacks_argument(const shell::Word& word) const;
  [[nodiscard]] FlatWord value_of(const shell::Word& word);
  void add_literal(FlatWord& value, const shell::Piece& piece, const shell::Word& word) const;
  void add_home(FlatWord& value) const;
  [[nodiscard]] bool changes_itself(const std::string& name, const FlatWord& value) const;
  [[nodiscard]] Segment segment_of(const shell::Piece& piece);
  [[nodiscard]] std::string source_of(const shell::Piece& piece);
  [[nodiscard]] const FlatWord* known_value(const shell::Piece& piece);
  [[nodiscard]] std::string with_numbers(std::string_view expression);
  void add_piece(std::vector<FlatWord>& words, const shell::Piece& piece);
  [[nodiscard]] bool is_constant(const FlatWord& value) const;

  std::string_view text_;
  std::map<std::string, FlatWord> values_;
  std::map<std::string, std::vector<FlatWord>> arrays_;
  std::map<std::string, std::string> others_;
  Names inlined_;
  Names exported_;
  Names converted_;  // of which the shell changes each value: declare -i
  bool has_one_folder_ = false;
  bool has_arguments_of_set_up_ = true;
  std::map<std::string, FlatWord> defaults_;  // ${2:-x} of those that are not given
  Names assigned_;                            // by the script, at whatever place so far
  Names blank_;                               // set to an argument that is not given
  std::size_t spent_ = 0;                     // bytes of all values so far
};

}  // namespace dts::convert
