// SPDX-License-Identifier: Apache-2.0
// A shell script as a syntax tree: what bash(1) calls words, simple commands, pipelines, lists,
// compound commands, here-documents and expansions, each with its place. Plain data.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace dts::shell {

// Bytes of the script, the end excluded.
struct Span {
  std::size_t begin = 0;
  std::size_t end = 0;
};

struct Statement;
struct Word;

using Statements = std::vector<Statement>;

// Members of a type that is not complete yet have no initializer: it would need the whole type.

// A part of a word.
struct Piece {
  enum class Kind {
    literal,
    parameter,   // $NAME, ${NAME...}
    command,     // $(...), `...`
    arithmetic,  // $((...))
    process,     // <(...), >(...)
  };

  Kind kind = Kind::literal;
  Span span{};
  // The literal without its quotes, the parameter's name, or the expression.
  std::string text{};
  std::string operation{};  // of ${NAME:-x}: ":-x", and "#" of ${#NAME}
  bool quoted = false;      // by any kind of quote or a backslash
  Statements commands;      // of a command or process substitution
  std::vector<Word> words;  // expansions within the operation or the expression
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
  Word value;               // unless it is an array
  std::vector<Word> elements;
};

struct Redirection {
  Span span{};
  std::string sign{};      // ">", ">>", "<", "<<-", "2>" has the sign ">" and descriptor 2
  int descriptor = -1;     // -1: the sign's own
  Word target;             // or the delimiter of a here-document
  int here_document = -1;  // its index in Script::here_documents
};

// Of `case`: the patterns of a body, and what ends it.
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
  std::vector<Word>
      words{};  // the command and its arguments; of `for` its items, of `case` its word
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

// What keeps the script from being a valid one. Reading goes on behind it.
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

// What a name of a variable begins with and goes on with (POSIX.1-2017, XBD 3.235).
[[nodiscard]] inline bool is_name_begin(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

[[nodiscard]] inline bool is_name_char(char c) {
  return is_name_begin(c) || (c >= '0' && c <= '9');
}

}  // namespace dts::shell
