// SPDX-License-Identifier: Apache-2.0
// The simple commands of a script in the order of its text, with their arguments expanded and with
// their surroundings. Scripts in arguments (bash -c TEXT, eval) are included. Pure.
#pragma once

#include "core/lint/script/launch.hpp"
#include "core/lint/script/values.hpp"
#include "core/shell/syntax.hpp"

#include <cstddef>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace dts::lint {

using shell::Span;

// The constructs around a command.
struct Surroundings {
  bool is_conditional = false;  // in if, case or a loop, or after && or ||
  bool is_in_loop = false;
  bool is_in_function = false;
  bool is_in_substitution = false;
  bool is_in_subshell = false;
  bool is_background = false;
  bool is_condition = false;      // its exit code is used by if, while, &&, || or !
  bool is_piped_inside = false;   // the same, within a script in a command
  bool is_piped = false;          // not the last of its pipeline
  bool reads_loop_input = false;  // in a loop that reads lines from its input: while read
  int inner = 0;                  // number of shells around it; 0: in the script itself
};

struct Assigned {
  std::string name;
  Value value;
  Span span;  // of the whole assignment
  Span value_span;
  bool is_literal = false;
  bool is_prefix = false;  // applies to one command only: NAME=value command
  bool is_exported = false;
  Surroundings around;
};

struct Run {
  std::vector<ExpandedWord> words;
  std::vector<const shell::Redirection*> redirections;  // only of commands in the script itself
  Span span;
  Surroundings around;
  bool runs_script = false;   // its text follows as further runs
  Launch launch;              // what it starts, and by which launcher
  std::size_t pipeline = 0;   // number that commands of one pipeline share
  std::size_t statement = 0;  // number in the script's outermost list

  [[nodiscard]] const std::string& name() const;  // "srun"; empty: only assignments
};

struct Runs {
  std::vector<Run> runs;
  std::vector<Assigned> assigned;
  Variables variables;            // their values at the end of the script
  std::set<std::string> changed;  // set by loops, read, arithmetic and the like
  std::size_t statements = 0;
  std::size_t spent = 0;  // bytes of expanded words; beyond a limit, reading stops
};

// `script` must outlive it.
[[nodiscard]] Runs runs_of(const shell::Script& script, std::string_view text);

}  // namespace dts::lint
