// SPDX-License-Identifier: Apache-2.0
// The processes of a run on this machine, and what a drill does to them. They are found by the
// environment that dtsubmit gave them. Within a Slurm step, only those of the step's own node
// count, since several nodes of a private cluster share one machine.
#pragma once

#include "core/base/result.hpp"
#include "core/run/directory/run_directory.hpp"

#include <sys/types.h>

#include <chrono>
#include <optional>
#include <string_view>
#include <vector>

namespace dts::drill {

// The processes of one attempt, except the calling process.
[[nodiscard]] std::vector<pid_t> processes_of(const run::RunDirectory& run, unsigned attempt);

// A rank's program: the child of its `dtsubmit rank`. nullopt if it is not on this machine.
[[nodiscard]] std::optional<pid_t> program_of(const run::RunDirectory& run,
                                              unsigned attempt,
                                              unsigned rank);

enum class Act {
  kill,   // SIGKILL to a rank's program
  stop,   // SIGSTOP to a rank's program
  slow,   // runs only 0.2 s of each second for `k_slow`, then freely
  agent,  // SIGKILL to the agent
  lose,   // SIGKILL to everything of the attempt
  count,  // does nothing but count
};

inline constexpr std::chrono::seconds k_slow{20};

[[nodiscard]] const char* to_string(Act act);
[[nodiscard]] std::optional<Act> act_from(std::string_view word);

// Returns the number of processes affected. `rank` matters only for the first three acts.
// Errc::interrupted once stop_on_signals() has seen a signal.
[[nodiscard]] Result<unsigned> act_on_this_node(Act act,
                                                const run::RunDirectory& run,
                                                unsigned attempt,
                                                unsigned rank);

}  // namespace dts::drill
