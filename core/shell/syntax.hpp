// SPDX-License-Identifier: Apache-2.0
// A shell script as a syntax tree: what bash(1) calls words, simple commands, pipelines, lists,
// compound commands, here-documents and expansions, each with its place. Plain data.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace dts::shell {

// A range of bytes of the script; `end` is excluded.
struct Span {
  std::size_t begin = 0;
  std::size_t end = 0;
};

struct Statement;
struct Word;

using Statements = std::vector<Statement>;

// Members of incomplete types have no initializer, as it would require the complete type.

// A part of a word.
struct Piece {
  enum class Kind {
    literal,
    parameter,   // $NAME, ${NAME...}
    command,     // $(...), `...`
    arithmetic,  // $((...)), $[...]
    process,     // <(...), >(...)
  };

  Kind kind = Kind::literal;
  Span span{};
  // A literal without its quotes, a parameter's name, or an expression.
  std::string text{};
  std::string operation{};  // of ${NAME:-x}: ":-x", and "#" of ${#NAME}
  bool quoted = false;      // by any kind of quote or a backslash
  Statements commands;      // of a command or process substitution
  std::vector<Word> words;  // expansions within `operation` or the expression
};

struct Word {
  Span span{};
  std::vector<Piece> pieces;
};

// NAME=value, before a command, on its own, or as an argument of export, declare and the like.
struct Assignment {
  Span span{};
  std::string name{};
  bool appends = false;     // NAME+=value
  bool is_element = false;  // NAME[i]=value
  bool is_array = false;    // NAME=(...)
  Word value;               // unset for an array
  std::vector<Word> elements;
};

struct Redirection {
  Span span{};
  std::string sign{};      // ">", ">>", "<", "<<-"; "2>" is ">" with descriptor 2
  int descriptor = -1;     // -1: the default of `sign`
  Word target;             // for a here-document: its delimiter
  int here_document = -1;  // its index in Script::here_documents
};

// One body of a `case`: its patterns, and what ends it.
struct Choice {
  std::vector<Word> patterns;
  std::string ending{};  // ";;", ";&", ";;&"; empty: the last one has none
};

struct Command {
  enum class Kind {
    simple,
    subshell,  // ( ... )
    group,     // { ...; }
    loop,      // while, until
    each,      // for, select
    branch,    // if
    choice,    // case
    function,
    arithmetic,  // (( ... ))
    test,        // [[ ... ]]
  };

  Kind kind = Kind::simple;
  Span span{};
  std::vector<Assignment> assignments;
  std::vector<Word> words{};  // the command and its arguments; items of `for`, word of `case`
  std::vector<Redirection> redirections;
  std::string name{};                  // of a function, or of the variable of `for`
  std::vector<Statements> conditions;  // of if, elif, while and until
  std::vector<Statements> bodies;
  std::vector<Choice> choices;  // of case, one for each body
};

// Commands joined by |.
struct Pipeline {
  Span span{};
  bool negated = false;
  std::vector<Command> commands;
};

// Pipelines joined by && and ||.
struct Statement {
  Span span{};
  std::vector<Pipeline> pipelines{};
  std::vector<std::string> joints{};  // "&&" or "||", one less than pipelines
  bool background = false;
};

struct HereDocument {
  Span span{};  // of its text
  Word text{};
  bool is_literal = false;  // its delimiter is quoted: nothing is expanded
};

// An error that makes the script invalid. The reader continues after it.
struct Problem {
  Span span{};
  std::string message{};
};

struct Script {
  Statements statements{};
  std::vector<HereDocument> here_documents{};
  std::vector<Span> comments{};
  std::vector<Problem> problems{};
};

// Characters with which a variable's name may begin and continue (POSIX.1-2017, XBD 3.235).
[[nodiscard]] inline bool is_name_begin(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

[[nodiscard]] inline bool is_name_char(char c) {
  return is_name_begin(c) || (c >= '0' && c <= '9');
}

}  // namespace dts::shell
