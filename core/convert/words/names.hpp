// SPDX-License-Identifier: Apache-2.0
// The names that parts of a script use and set. Pure, thread-safe.
#pragma once

#include "core/shell/syntax.hpp"

#include <functional>
#include <set>
#include <string>
#include <string_view>

namespace dts::convert {

using Names = std::set<std::string, std::less<>>;

// Every name that the text may use, in whatever quotes: $NAME, ${NAME...}, and all words of
// arithmetic. Rather too many than too few.
[[nodiscard]] Names used_names(std::string_view text);

// Those in $((...)) and ((...)), where they need no $.
[[nodiscard]] Names names_in_arithmetic(std::string_view text);

// True for variables that login shells, modules, environments and Slurm set: a script that assigns
// them without `export` changes its programs' environment, too.
[[nodiscard]] bool is_of_environment(std::string_view name);

// All words of the text, for names of functions.
[[nodiscard]] Names words_of(std::string_view text);

// The variables that a statement sets in the shell itself, under whatever condition, and the
// functions that it defines.
struct SetNames {
  Names variables;
  Names arrays;
  Names functions;
  Names exported;   // of the variables
  Names inherited;  // of these: without `export`, as they are in most jobs' environment
  Names converted;  // their values are not what the script assigns: declare -i, -l, -u, -n
  Names limits;     // what it changes of these: "umask", and of ulimit "n"
  bool changes_folder = false;
};

[[nodiscard]] SetNames set_names(const shell::Statement& statement);

// Those that the expansions of its value set: A in B=$((A += 1)) and in B=${A:=1}.
[[nodiscard]] Names set_within(const shell::Assignment& one);

// Every command of the statements, those within others and within substitutions included.
void each_command(const shell::Statements& statements,
                  const std::function<void(const shell::Command&)>& see);
void each_command(const shell::Statement& statement,
                  const std::function<void(const shell::Command&)>& see);

// Every NAME=value of `local` in them.
void each_local(const shell::Statements& statements,
                const std::function<void(const shell::Assignment&)>& see);

// True if some name is in both.
[[nodiscard]] bool meets(const Names& a, const Names& b);

// Every expansion in such commands' words, those within others included.
void each_expansion(const shell::Statements& statements,
                    const std::function<void(const shell::Piece&)>& see);

// "NAME", for words without expansions; empty otherwise.
[[nodiscard]] std::string literal_of(const shell::Word& word);

// That, of the command's first word; empty if it has none: NAME=value, if, while.
[[nodiscard]] std::string first_word(const shell::Command& command);

// The only piece of a word, whether in quotes or not; null: it has several, or none.
[[nodiscard]] const shell::Piece* only_piece(const shell::Word& word);

// ${#NAME[@]}
[[nodiscard]] bool counts_elements(const shell::Piece& piece);

// ${NAME=x} and ${NAME:=x}
[[nodiscard]] bool sets_default(const shell::Piece& piece);

// The only simple command of the statement; null: it has another form. The statement may be in the
// background.
[[nodiscard]] const shell::Command* simple_command(const shell::Statement& statement);

}  // namespace dts::convert
