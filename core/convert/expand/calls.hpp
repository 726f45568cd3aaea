// SPDX-License-Identifier: Apache-2.0
// Functions of a script that start programs, written out where they are called, and what a trap
// calls, where the script ends. Pure.
#pragma once

#include "core/convert/expand/expand.hpp"
#include "core/convert/words/names.hpp"
#include "core/shell/syntax.hpp"

#include <string_view>
#include <vector>

namespace dts::convert {

// The names that lines outside functions use; variables local to a body must not change them.
[[nodiscard]] Names names_outside_functions(std::string_view text, const shell::Script& script);

// The text with the bodies of such functions in place of their calls. A call stays as it is if
// its output or exit code is used, or if the body works only in a function:
// return, shift, here-documents, variables that differ outside, arguments that only the job's
// shell can split. `programs`: places of the commands that do the job's work. `outside`: of
// the original script. Calls within a body stay, for another pass.
[[nodiscard]] Expanded with_calls_written_out(std::string_view text,
                                              const shell::Script& script,
                                              const std::vector<Span>& programs,
                                              const Names& outside);

// The text with the commands of `trap COMMANDS EXIT` behind its last line, without those that end
// processes or the script, which the job does itself. The same text, if there is no such trap, more
// than one, or one under a condition, behind a line that may end the script, or with values in
// double quotes that are others at the end.
[[nodiscard]] Expanded with_exit_trap_behind(std::string_view text, const shell::Script& script);

}  // namespace dts::convert
