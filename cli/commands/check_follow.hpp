// SPDX-License-Identifier: Apache-2.0
// A command whose progress is shown on standard error while it runs.
#pragma once

#include "core/base/os/process.hpp"
#include "core/base/result.hpp"

#include <chrono>
#include <string>

namespace dts::cli {

struct Ended {
  int exit_code = 0;
  std::string run;  // the run directory that it named; empty: none
};

// Shows what the command says, line by line (on standard output only if command.stdout_fd is not
// set), and with `shows_rank_log` what rank 0 of the job that it has submitted says. After a signal
// of ours, or after `limit`, ends the command and cancels its job: Errc::interrupted, Errc::io.
[[nodiscard]] Result<Ended> run_followed(Command command,
                                         bool shows_rank_log,
                                         std::chrono::seconds limit);

}  // namespace dts::cli
