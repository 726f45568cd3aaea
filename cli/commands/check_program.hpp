// SPDX-License-Identifier: Apache-2.0
// The user's program and files, as they can be seen before the job exists: a slip of the pen must
// not wait in a queue.
#pragma once

#include "cli/commands/job_options.hpp"
#include "core/spec/job_spec.hpp"

namespace dts::cli {

// Where the program will run.
enum class Reach {
  here,       // on this machine: what is not here is an error
  nodes,      // on nodes with our folder and our PATH, which may have more installed
  elsewhere,  // on machines of which nothing is known
};

// Adds a problem to `asked` if its program does not exist or cannot be executed. A path that only
// the nodes may have is a warning on standard error. The bundled trainer (an empty command) is not
// checked.
void check_program(Asked& asked, Reach reach);

// The same, every problem a warning: for a plan that nobody submits.
void warn_of_program(const spec::JobSpec& spec);

// Makes the paths of what --stage names absolute, because a node's set-up need not begin in this
// folder. What cannot be read here is a problem, or a warning where nodes may see more than we do.
void check_stage(Asked& asked, Reach reach);

}  // namespace dts::cli
