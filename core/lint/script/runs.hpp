// SPDX-License-Identifier: Apache-2.0
// The simple commands of a script in the order of its text, with their arguments expanded and with
// what surrounds them. Scripts in arguments (bash -c TEXT, eval) are read as well. Pure.
#pragma once

#include "core/lint/script/launch.hpp"
#include "core/lint/script/values.hpp"
#include "core/shell/syntax.hpp"

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace dts::lint {

using shell::Span;

// What surrounds a command.
struct Surroundings {
  bool is_conditional = false;  // in if, case, a loop, or behind && or ||
  bool is_in_loop = false;
  bool is_in_function = false;
  bool is_in_substitution = false;
  bool is_in_subshell = false;
  bool is_background = false;
  bool is_condition = false;      // its exit code is looked at: if, while, &&, ||, !
  bool is_piped_inside = false;   // likewise, in a script within a command
  bool is_piped = false;          // not the last of its pipeline
  bool reads_loop_input = false;  // in a loop that reads lines: while read
  int inner = 0;                  // how many shells deep: 0 for the script itself
};

struct Assigned {
  std::string name;
  Value value;
  Span span;  // of the whole assignment
  Span value_span;
  bool is_literal = false;
  bool is_prefix = false;  // of one command only: NAME=value command
  bool is_exported = false;
  Surroundings around;
};

struct Run {
  std::vector<ExpandedWord> words;
  std::vector<const shell::Redirection*> redirections;  // of the script itself only
  Span span;
  Surroundings around;
  bool runs_script = false;   // its text follows as runs of its own
  Launch launch;              // what it starts, and by which launcher
  std::size_t pipeline = 0;   // commands of one pipeline have the same number
  std::size_t statement = 0;  // of the outermost list of the script, in order

  [[nodiscard]] const std::string& name() const;  // "srun"; empty: only assignments
};

struct Runs {
  std::vector<Run> runs;
  std::vector<Assigned> assigned;
  Variables variables;  // as they are in the end
  std::size_t statements = 0;
  std::size_t spent = 0;  // bytes of expanded words; a script that makes too many is not read on
};

// `script` must outlive it.
[[nodiscard]] Runs runs_of(const shell::Script& script, std::string_view text);

}  // namespace dts::lint
