// SPDX-License-Identifier: Apache-2.0
// What people read of a scheduler, in its own terms: the plug-in has it.
#pragma once

#include "core/base/job_id.hpp"

#include <string>

namespace dts::sched {

// "{job}" stands for a job's id; an empty text: there is none.
struct Phrases {
  std::string name = "the scheduler";  // "Slurm"
  std::string cancel;                  // the command that cancels a job without dtsubmit
  std::string accounting;  // where more is known of a job that the scheduler has forgotten
  std::string forgets;     // when it forgets a job: "it forgets jobs an hour after their end"
  std::string nodes_away;  // what a person does where too few nodes are up
};

// `text` with the id for each "{job}".
[[nodiscard]] std::string with_job(std::string text, const JobId& job);

}  // namespace dts::sched
