// SPDX-License-Identifier: Apache-2.0
// How a container runtime reports that it could not start the program. Pure.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace dts::run {

// The line with which one of `runtimes` ("podman", "docker", "ch-run", "apptainer", "bwrap" and
// their other names) says at the end of a rank's log that it could not start the program,
// printable(); nullopt if `exit_code` or the last lines are the program's own.
[[nodiscard]] std::optional<std::string> runtime_failure(const std::vector<std::string>& last_lines,
                                                         int exit_code,
                                                         const std::vector<std::string>& runtimes);

}  // namespace dts::run
