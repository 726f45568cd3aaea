// SPDX-License-Identifier: Apache-2.0
// The scheduler's own terms, provided by its plug-in for messages to the user.
#pragma once

#include "core/base/job_id.hpp"

#include <string>

namespace dts::sched {

// "{job}" stands for the job's id; an empty text means that there is nothing to say.
struct Phrases {
  std::string name = "the scheduler";  // "Slurm"
  std::string cancel;                  // the command that cancels a job without dtsubmit
  std::string accounting;  // where to find more about a job that the scheduler has forgotten
  std::string forgets;     // when it forgets a job: "it forgets jobs an hour after their end"
  std::string nodes_away;  // what a user can do if too few nodes are up
  std::string forecast{};  // what its forecast of a start does not consider, a sentence
  std::string billing{};   // where the weights for billing are set
};

// Replaces each "{job}" in `text` by the id.
[[nodiscard]] std::string with_job(std::string text, const JobId& job);

}  // namespace dts::sched
