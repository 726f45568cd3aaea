// SPDX-License-Identifier: Apache-2.0
// Forms of statements that decide whether they can be written out. Pure.
#pragma once

#include "core/shell/syntax.hpp"

namespace dts::convert {

// The only command, whatever its kind, and nothing is done with its output or exit code; null:
// another statement.
[[nodiscard]] const shell::Command* whole_command(const shell::Statement& statement);

// { ...; } | tee LOG, and likewise ( ... ) that sets nothing; null: another statement.
[[nodiscard]] const shell::Command* piped_list(const shell::Statement& statement);

[[nodiscard]] bool has_background(const shell::Statements& statements);

// It has exit or return.
[[nodiscard]] bool ends_script(const shell::Statements& statements);

// The turns of a loop with this body are not all alike.
[[nodiscard]] bool leaves_loop(const shell::Statements& statements);

// Some program is started on nodes that the script chooses: such programs can become roles.
[[nodiscard]] bool names_nodes(const shell::Statements& statements);

}  // namespace dts::convert
