// SPDX-License-Identifier: Apache-2.0
// The processes of a run on this machine, and what a drill does to them. Found by the environment
// that dtsubmit gave them; inside a step of Slurm only those of the step's own node, as several
// nodes of a private cluster share one machine.
#pragma once

#include "core/base/result.hpp"
#include "core/run/directory/run_directory.hpp"

#include <sys/types.h>

#include <chrono>
#include <optional>
#include <string_view>
#include <vector>

namespace dts::drill {

// The processes of one attempt, without the calling process.
[[nodiscard]] std::vector<pid_t> processes_of(const run::RunDirectory& run, unsigned attempt);

// The program of a rank: the child of its `dtsubmit rank`. nullopt: it is not on this machine.
[[nodiscard]] std::optional<pid_t> program_of(const run::RunDirectory& run,
                                              unsigned attempt,
                                              unsigned rank);

enum class Act {
  kill,   // SIGKILL to a rank's program
  stop,   // SIGSTOP to it
  slow,   // it runs 0.2 s of each second, for `k_slow`; it runs freely afterwards
  lose,   // SIGKILL to everything of the attempt
  count,  // nothing
};

inline constexpr std::chrono::seconds k_slow{20};

[[nodiscard]] const char* to_string(Act act);
[[nodiscard]] std::optional<Act> act_from(std::string_view word);

// The number of processes that it was done to. `rank` means something to the first three only.
// Errc::interrupted after stop_on_signals() saw a signal.
[[nodiscard]] Result<unsigned> act_here(Act act,
                                        const run::RunDirectory& run,
                                        unsigned attempt,
                                        unsigned rank);

}  // namespace dts::drill
