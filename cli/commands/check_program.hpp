// SPDX-License-Identifier: Apache-2.0
// Checks the user's program and files as far as they are visible at submission: a typo must not
// wait in a queue.
#pragma once

#include "cli/commands/job_options.hpp"
#include "core/spec/job_spec.hpp"

namespace dts::cli {

// Where the program will run.
enum class Reach {
  here,       // on this machine: a missing file is an error
  nodes,      // on nodes that share our folder and PATH but may have more installed
  elsewhere,  // on machines about which nothing is known
};

// Adds a problem to `asked` if its program does not exist or cannot be executed. A path that may
// exist only on the nodes is a warning on standard error. The bundled trainer (an empty command) is
// not checked.
void check_program(Asked& asked, Reach reach);

// The same with every problem as a warning: for a plan that is not submitted.
void warn_of_program(const spec::JobSpec& spec);

// Makes the paths in --stage absolute, because a node's set-up may start in another folder. An
// unreadable path is a problem, or a warning if nodes may see more than we do.
void check_stage(Asked& asked, Reach reach);

}  // namespace dts::cli
