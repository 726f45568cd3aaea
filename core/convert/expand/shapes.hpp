// SPDX-License-Identifier: Apache-2.0
// Forms of statements that decide whether they can be written out. Pure.
#pragma once

#include "core/shell/syntax.hpp"

namespace dts::convert {

// The statement's only command, of any kind, if its output and exit code are not used; null:
// another statement.
[[nodiscard]] const shell::Command* whole_command(const shell::Statement& statement);

// { ...; } | tee LOG, and likewise ( ... ) that sets nothing; null: another statement.
[[nodiscard]] const shell::Command* piped_list(const shell::Statement& statement);

[[nodiscard]] bool has_background(const shell::Statements& statements);

// True if it contains exit or return.
[[nodiscard]] bool ends_script(const shell::Statements& statements);

// True if the iterations of a loop with this body differ.
[[nodiscard]] bool leaves_loop(const shell::Statements& statements);

// True if each command in the background is `srun` with a number of tasks and something that a step
// has of a node: they can become roles that share nodes.
[[nodiscard]] bool starts_steps_beside(const shell::Statements& statements);

// True if a program is started on nodes that the script chooses: such programs can become roles.
[[nodiscard]] bool names_nodes(const shell::Statements& statements);

}  // namespace dts::convert
