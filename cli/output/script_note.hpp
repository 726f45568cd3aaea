// SPDX-License-Identifier: Apache-2.0
// Detects a program that is a shell script, which may swallow a stop signal.
#pragma once

#include <string>
#include <vector>

namespace dts::cli {

// True if a shell that runs `script` stays between the rank and its program: the script has neither
// `exec` nor a trap, and more than one command. Pure.
[[nodiscard]] bool keeps_a_shell(const std::string& script);

// A note for the user before submitting a job whose ranks run `command`; may be empty. Reads the
// script if the command names one.
[[nodiscard]] std::string script_note(const std::vector<std::string>& command);

}  // namespace dts::cli
