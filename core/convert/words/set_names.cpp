// SPDX-License-Identifier: Apache-2.0
#include "core/base/variable_name.hpp"
#include "core/convert/words/names.hpp"
#include "core/shell/arithmetic.hpp"
#include "core/shell/parse.hpp"

#include <algorithm>

namespace dts::convert {
namespace {

using shell::Command;

// declare -g -A NAME: one of the letters is an option of the declaration.
bool has_option(const Command& declaration, std::string_view letters) {
  return std::any_of(
      declaration.words.begin() + 1, declaration.words.end(), [&](const shell::Word& word) {
        const std::string option = literal_of(word);
        return option.starts_with('-') && option.find_first_of(letters) != std::string::npos;
      });
}

// export NAME, declare -x NAME
bool exports(const Command& command) {
  const std::string verb = first_word(command);
  if (verb == "export") return true;
  if (verb != "declare" && verb != "typeset") return false;
  return has_option(command, "x");
}

// NAME of a word that only quotes keep from being an assignment: export 'NAME=value'. Empty: none.
std::string name_in_quotes(const shell::Word& word) {
  if (word.pieces.empty() || word.pieces[0].kind != shell::Piece::Kind::literal) return "";
  const std::string& text = word.pieces[0].text;
  const std::size_t equals = text.find('=');
  if (equals == std::string::npos) return "";
  std::string name = text.substr(0, equals);
  return is_variable_name(name) ? name : "";
}

// NAME of unset 'NAME[1]' and unset "NAME[$i]". Empty: none.
std::string array_of_element(const shell::Word& word) {
  if (word.pieces.empty() || word.pieces[0].kind != shell::Piece::Kind::literal) return "";
  const std::string& text = word.pieces[0].text;
  const std::size_t bracket = text.find('[');
  if (bracket == std::string::npos) return "";
  std::string name = text.substr(0, bracket);
  return is_variable_name(name) ? name : "";
}

constexpr std::string_view k_ulimit_letters = "cdflmnstuv";

bool is_dashed(const std::string& word) {
  return word.size() > 1 && word[0] == '-';
}

// ulimit -Sn 4096 -c 0; without a value, it prints.
Names letters_of(const shell::Command& ulimit, std::size_t first) {
  std::string letters;
  bool has_value = false;
  for (std::size_t i = first; i < ulimit.words.size(); ++i) {
    const std::string word = literal_of(ulimit.words[i]);
    if (is_dashed(word))
      letters += word.substr(1);
    else if (word.empty() && i == first)  // ulimit $OPTIONS
      letters += k_ulimit_letters;
    has_value = has_value || !is_dashed(word);
  }
  Names names;
  if (!has_value) return names;
  for (const char letter : letters)
    if (letter != 'H' && letter != 'S') names.insert(std::string(1, letter));
  if (names.empty()) names.insert("f");  // bash(1), ulimit: without an option, -f is assumed
  return names;
}

// "umask", or letters of ulimit, "n": what the command changes of them.
Names limits_set_by(const shell::Command& command) {
  std::size_t at = 0;  // command ulimit -n 4096, builtin umask 077
  const auto word = [&] { return at < command.words.size() ? literal_of(command.words[at]) : ""; };
  while (word() == "command" || word() == "builtin") ++at;
  const std::string verb = word();
  if (verb == "ulimit") return letters_of(command, at + 1);
  Names names;
  if (verb == "umask")
    for (std::size_t i = at + 1; i < command.words.size(); ++i)
      if (!is_dashed(literal_of(command.words[i]))) names.insert(verb);
  return names;
}

class Collector {
 public:
  explicit Collector(SetNames& names) : names_(names) {}

  void statement(const shell::Statement& one) {
    for (const shell::Pipeline& pipeline : one.pipelines)
      for (const Command& command : pipeline.commands)
        if (pipeline.commands.size() == 1 || command.kind != Command::Kind::subshell)
          this->command(command);
  }

  void calculations_in(const shell::Assignment& one) {
    expansions_in(one.value);
    for (const shell::Word& element : one.elements) expansions_in(element);
  }

 private:
  void command(const Command& one) {
    if (one.kind == Command::Kind::subshell) return;
    const std::string verb = first_word(one);
    const bool is_prefix =
        !one.words.empty() && one.kind == Command::Kind::simple && !is_declaration(verb);
    if (!is_prefix)
      for (const shell::Assignment& part : one.assignments) assign(part, exports(one));
    calculations(one);
    if (one.kind == Command::Kind::function) names_.functions.insert(one.name);
    if (one.kind == Command::Kind::each && !one.name.empty()) names_.variables.insert(one.name);
    if (one.kind == Command::Kind::simple) simple(one, verb);
    for (const auto* lists : {&one.conditions, &one.bodies})
      for (const shell::Statements& all : *lists)
        for (const shell::Statement& part : all) statement(part);
  }

  static bool is_declaration(const std::string& verb) {
    return verb == "export" || verb == "declare" || verb == "typeset" || verb == "readonly" ||
           verb == "local";
  }

  void assign(const shell::Assignment& one, bool is_exported) {
    const bool is_array = one.is_array || one.is_element;
    (is_array ? names_.arrays : names_.variables).insert(one.name);
    const bool is_inherited = !is_exported && !is_array && is_of_environment(one.name);
    if (is_exported || is_inherited) names_.exported.insert(one.name);
    if (is_inherited) names_.inherited.insert(one.name);
  }

  void calculate(std::string_view expression) {
    for (std::string& name : shell::names_set_by(expression)) names_.variables.insert(name);
  }

  // $((N++)) and ${N:=1} within a word
  void expansions_in(const shell::Word& word) {
    for (const shell::Piece& piece : word.pieces) {
      if (piece.kind == shell::Piece::Kind::arithmetic) calculate(piece.text);
      if (sets_default(piece)) names_.variables.insert(piece.text);
      for (const shell::Word& inner : piece.words) expansions_in(inner);
    }
  }

  void calculations(const Command& one) {
    const bool is_expression =
        one.kind == Command::Kind::arithmetic ||
        (one.kind == Command::Kind::each && one.name.empty());  // for ((i = 0; ...))
    for (const shell::Word& word : one.words) {
      expansions_in(word);
      for (const shell::Piece& piece : word.pieces)
        if (is_expression) calculate(piece.text);
    }
    for (const shell::Assignment& part : one.assignments) calculations_in(part);
  }

  static std::string text_of(const shell::Word& word) {
    std::string text;
    for (const shell::Piece& piece : word.pieces) text += piece.text;
    return text;
  }

  // let N=N*2, eval N=4
  void text_for_shell(const Command& one, const std::string& verb) {
    for (const shell::Assignment& part : one.assignments) {  // let N=(1+2)*3, eval A=('$X')
      (verb == "let" ? names_.variables : names_.arrays).insert(part.name);
      names_.converted.insert(part.name);
    }
    std::string text;
    for (std::size_t i = 1; i < one.words.size(); ++i) {
      if (verb == "let") calculate(text_of(one.words[i]));
      text += literal_of(one.words[i]) + " ";
    }
    if (verb != "eval" || evals_ == k_most_evals) return;
    ++evals_;
    for (const shell::Statement& inner : shell::parse(text).statements) statement(inner);
    --evals_;
  }

  void simple(const Command& one, const std::string& verb) {
    if (verb == "let" || verb == "eval") text_for_shell(one, verb);
    if (verb == "cd" || verb == "pushd" || verb == "popd") names_.changes_folder = true;
    names_.limits.merge(limits_set_by(one));
    const bool reads = verb == "read" || verb == "mapfile" || verb == "readarray" ||
                       verb == "getopts" || verb == "unset";
    const bool is_array = verb == "mapfile" || verb == "readarray" ||
                          (is_declaration(verb) && one.words.size() > 2 && has_option(one, "aA"));
    const bool is_export = exports(one);
    const bool is_converted = changes_values(one, verb);
    if (is_converted)
      for (const shell::Assignment& part : one.assignments) names_.converted.insert(part.name);
    for (std::size_t i = 1; i < one.words.size(); ++i) {
      if (is_declaration(verb) && in_quotes(one.words[i], is_export)) continue;
      const std::string word = literal_of(one.words[i]);
      if (!is_variable_name(word)) {
        option(one, verb, i);
        continue;
      }
      if (is_array || is_option_of_array(verb, literal_of(one.words[i - 1])))
        names_.arrays.insert(word);
      else if (reads)
        names_.variables.insert(word);
      if (is_export) names_.exported.insert(word);
      if (is_converted) names_.converted.insert(word);
    }
  }

  // declare -i NAME: NAME=4*2 is 8 from now on. -l and -u change letters; -n is another's name.
  static bool changes_values(const Command& one, const std::string& verb) {
    return (verb == "declare" || verb == "typeset" || verb == "local") && has_option(one, "ilnu");
  }

  // export 'NAME=value'
  bool in_quotes(const shell::Word& word, bool is_export) {
    const std::string name = name_in_quotes(word);
    if (name.empty()) return false;
    names_.variables.insert(name);
    if (is_export) names_.exported.insert(name);
    return true;
  }

  // read -ra NAME
  static bool is_option_of_array(const std::string& verb, const std::string& word) {
    return verb == "read" && word.size() > 1 && word[0] == '-' && word.back() == 'a';
  }

  // read -a NAME, printf -v NAME, unset 'NAME[1]'
  void option(const Command& one, const std::string& verb, std::size_t at) {
    const std::string array = verb == "unset" ? array_of_element(one.words[at]) : "";
    if (!array.empty()) names_.arrays.insert(array);
    if (at + 1 >= one.words.size()) return;
    const std::string word = literal_of(one.words[at]);
    if (is_option_of_array(verb, word)) names_.arrays.insert(literal_of(one.words[at + 1]));
    if (verb == "printf" && word == "-v") names_.variables.insert(literal_of(one.words[at + 1]));
  }

  static constexpr unsigned k_most_evals = 8;  // within each other

  SetNames& names_;
  unsigned evals_ = 0;
};

}  // namespace

SetNames set_names(const shell::Statement& statement) {
  SetNames names;
  Collector(names).statement(statement);
  return names;
}

Names set_within(const shell::Assignment& one) {
  SetNames names;
  Collector(names).calculations_in(one);
  return names.variables;
}

}  // namespace dts::convert
