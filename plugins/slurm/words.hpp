// SPDX-License-Identifier: Apache-2.0
// Names for Slurm's numbers. libslurm has such functions but its public header does not declare
// them, so the tables are ours. Pure.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace slurm_plugin {

// The name of a job's base state as in sched::to_string ("timed_out"); flags are ignored.
[[nodiscard]] const char* job_state_word(std::uint32_t state);

// Slurm's own name for an enum job_state_reason ("Resources"), as squeue prints it; "Reason42" for
// a number of a later release.
[[nodiscard]] std::string reason_word(unsigned reason);

// What sinfo would print, in lower case: "idle", "allocated", "draining", "down*", ...
[[nodiscard]] std::string node_state_word(std::uint32_t state);

// True if a node in that state is down or silent ("idle*").
[[nodiscard]] bool is_lost(std::string_view state);

// The same, or if the node accepts no jobs for another reason: drained, failed.
[[nodiscard]] bool is_away(std::string_view state);

// "requeue", "cancel", "suspend", "none".
[[nodiscard]] const char* preemption_word(unsigned mode);

// "22.05.8" from the packed number of slurm_version.h.
[[nodiscard]] std::string version_word(long number);

// The GPUs in a node's Gres, "gpu:a100:8(S:0-1),nic:2": the sum over all types. 0 for nullptr.
[[nodiscard]] unsigned count_gpus(const char* gres);

}  // namespace slurm_plugin
