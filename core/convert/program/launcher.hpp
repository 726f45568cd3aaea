// SPDX-License-Identifier: Apache-2.0
// Converts the options of srun, mpirun and horovodrun to options of a job. Pure.
#pragma once

#include "core/convert/job/draft.hpp"
#include "core/convert/words/resolve.hpp"
#include "core/lint/script/launch.hpp"
#include "core/lint/script/runs.hpp"

#include <string>
#include <vector>

namespace dts::convert {

// The launcher in the script, and the command without it.
struct Launched {
  lint::Launcher launcher = lint::Launcher::none;
  std::string name;                 // "srun"; empty: none
  Settings settings;                // of this program alone
  std::vector<FlatWord> variables;  // NAME=value of the program's environment
  std::vector<FlatWord> command;    // the program and its arguments
  std::string folder;  // of the program in its container, as shell text; empty: not said
  std::vector<std::string> notes;  // "--label: ..."
  std::vector<std::string> losses;
  std::vector<Blank> blanks;
  bool names_nodes = false;  // srun --nodelist, --relative
  Names needs;               // variables of the shell that submits, without which something is lost
};

// `runs`: of the script; their values distinguish a program in a variable from options. `at`: where
// the launcher's statement begins. `is_in_function`: its $1 is one of a function.
[[nodiscard]] Launched launched(std::vector<FlatWord> words,
                                const Resolver& resolver,
                                const lint::Runs& runs,
                                std::size_t at,
                                bool is_in_function);

}  // namespace dts::convert
