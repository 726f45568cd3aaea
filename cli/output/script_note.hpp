// SPDX-License-Identifier: Apache-2.0
// A program that is a shell script, and what becomes of a stop signal there.
#pragma once

#include <string>
#include <vector>

namespace dts::cli {

// True where a shell that runs `script` stays between the rank and its program: it has neither
// `exec` nor a trap, and is more than one command. Pure.
[[nodiscard]] bool keeps_a_shell(const std::string& script);

// A note for the user before a job whose ranks run `command` is submitted; may be empty. Reads the
// script if the command names one.
[[nodiscard]] std::string script_note(const std::vector<std::string>& command);

}  // namespace dts::cli
