// SPDX-License-Identifier: Apache-2.0
// Runs a command and shows its progress on standard error.
#pragma once

#include "core/base/os/process.hpp"
#include "core/base/result.hpp"

#include <chrono>
#include <string>

namespace dts::cli {

struct Ended {
  int exit_code = 0;
  std::string run;  // the run directory that the command named; empty: none
};

// Shows the command's output line by line (standard output only if command.stdout_fd is not set),
// and with `shows_rank_log` that of rank 0 of the job that it submitted. After SIGINT or the like,
// or after `limit`, ends the command and cancels its job: Errc::interrupted, Errc::io.
[[nodiscard]] Result<Ended> run_followed(Command command,
                                         bool shows_rank_log,
                                         std::chrono::seconds limit);

}  // namespace dts::cli
