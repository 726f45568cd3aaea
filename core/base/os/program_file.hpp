// SPDX-License-Identifier: Apache-2.0
// Finds the file of a program, and says why it cannot be run.
#pragma once

#include "core/base/result.hpp"

#include <optional>
#include <string>

namespace dts {

// The file in PATH that `name` refers to, or nullopt.
[[nodiscard]] std::optional<std::string> find_program(const std::string& name);

// The file that `name` refers to, searched in PATH if it has no slash. Errors say why it cannot be
// run: Errc::not_found if the file or the interpreter in its first line (`#!`) does not exist,
// Errc::invalid for a folder and for a file that we may not execute.
[[nodiscard]] Result<std::string> resolve_program(const std::string& name);

// The shell's exit code for a program that could not be started: 127 not found, 126 not executable;
// nullopt if the program is not at fault.
[[nodiscard]] std::optional<int> exit_code_of_start(const Error& error);

}  // namespace dts
