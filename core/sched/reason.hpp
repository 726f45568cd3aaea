// SPDX-License-Identifier: Apache-2.0
// Slurm's one-word reasons and its record of an ended job, in sentences. Pure.
#pragma once

#include "core/sched/scheduler.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace dts::sched {

// Each a clause without a full stop: "it is next, and waits for nodes to become free". `advice` may
// hold "{job}" for the job's number; empty where waiting is all there is to do.
struct ReasonWords {
  std::string why;
  std::string advice;
};

// The words for a reason as squeue prints it (enum job_state_reason of slurm.h; squeue(1), JOB
// REASON CODES; the limits: resource_limits of slurm.schedmd.com). nullopt for one that is not
// known.
[[nodiscard]] std::optional<ReasonWords> words_of_reason(std::string_view reason);

// What the record of a job that has ended says of its end, and what that usually means. For an end
// of which the agent had no time to tell.
[[nodiscard]] ReasonWords words_of_end(const JobInfo& job);

}  // namespace dts::sched
