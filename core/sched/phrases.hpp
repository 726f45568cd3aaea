// SPDX-License-Identifier: Apache-2.0
// A scheduler's own terms in messages to the user, provided by its plug-in.
#pragma once

#include "core/base/job_id.hpp"

#include <string>

namespace dts::sched {

// "{job}" stands for a job's id; an empty text means not applicable.
struct Phrases {
  std::string name = "the scheduler";  // "Slurm"
  std::string cancel;                  // the command that cancels a job without dtsubmit
  std::string accounting;  // where to find more about a job that the scheduler has forgotten
  std::string forgets;     // when it forgets a job: "it forgets jobs an hour after their end"
  std::string nodes_away;  // what a user can do if too few nodes are up
  std::string forecast{};  // what its forecast of a start leaves out, a sentence
  std::string billing{};   // where its weights of billing are set
};

// `text` with the id in place of each "{job}".
[[nodiscard]] std::string with_job(std::string text, const JobId& job);

}  // namespace dts::sched
