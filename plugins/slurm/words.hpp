// SPDX-License-Identifier: Apache-2.0
// Names for Slurm's numbers. Pure.
#pragma once

#include <cstdint>
#include <string>

namespace slurm_plugin {

// The text of a char* member of libslurm's; empty for a null pointer.
[[nodiscard]] std::string text(const char* value);

// The name of a job's base state as in sched::to_string ("timed_out"); flags are ignored.
[[nodiscard]] const char* job_state_word(std::uint32_t state);

// Slurm's own name for an enum job_state_reason ("Resources"), as squeue prints it; "Reason42" for
// a number for which libslurm has no name.
[[nodiscard]] std::string reason_word(unsigned reason);

// What sinfo would print, in lower case: "idle", "allocated", "draining", "down*", ...
[[nodiscard]] std::string node_state_word(std::uint32_t state);

// "requeue", "cancel", "suspend", "none".
[[nodiscard]] const char* preemption_word(unsigned mode);

// "22.05.8" from the packed number of slurm_version.h.
[[nodiscard]] std::string version_word(long number);

}  // namespace slurm_plugin
