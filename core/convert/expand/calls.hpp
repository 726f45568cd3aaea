// SPDX-License-Identifier: Apache-2.0
// Functions of a script that start programs, written out where they are called. Pure.
#pragma once

#include "core/convert/expand/expand.hpp"
#include "core/convert/words/names.hpp"
#include "core/shell/syntax.hpp"

#include <string_view>
#include <vector>

namespace dts::convert {

// What the lines outside of functions use: none of it may change by what is local to a body.
[[nodiscard]] Names names_outside_functions(std::string_view text, const shell::Script& script);

// The text with the bodies of such functions in place of their calls. A call stays as it is if
// something is done with its output or exit code, or if the body depends on being a function's:
// return, shift, here-documents, variables that are others outside, arguments that only the shell
// of the job can split. `programs`: places of the commands that do the job's work. `outside`: of
// the script as it was written. Calls within a body stay, for another turn.
[[nodiscard]] Expanded with_calls_written_out(std::string_view text,
                                              const shell::Script& script,
                                              const std::vector<Span>& programs,
                                              const Names& outside);

}  // namespace dts::convert
