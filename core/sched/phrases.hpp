// SPDX-License-Identifier: Apache-2.0
// Phrases about a scheduler in its own terms, for people; the plug-in provides them.
#pragma once

#include "core/base/job_id.hpp"

#include <string>

namespace dts::sched {

// "{job}" stands for a job's id; an empty text means that there is none.
struct Phrases {
  std::string name = "the scheduler";  // "Slurm"
  std::string cancel;                  // the command that cancels a job without dtsubmit
  std::string accounting;  // where to find more about a job that the scheduler has forgotten
  std::string forgets;     // when it forgets a job: "it forgets jobs an hour after their end"
  std::string nodes_away;  // what a user can do if too few nodes are up
};

// `text` with the id in place of each "{job}".
[[nodiscard]] std::string with_job(std::string text, const JobId& job);

}  // namespace dts::sched
