// SPDX-License-Identifier: Apache-2.0
// `dtsubmit revive`: puts a job back into the queue whose batch process was killed, so that nobody
// was left to decide. Its next agent then treats that as the loss of a node.
#pragma once

#include "core/base/result.hpp"

#include <string>

namespace dts::launch {

// `run_directory`: of the run, or of the part of it, whose attempt `attempt` has lost its agent.
// Waits some seconds for the scheduler to end the job. Does nothing if the job goes on or has ended
// in any other way, a user has asked it to stop, one of its parts has failed for good, the policy
// does not requeue it, or this is the third loss of an agent in a row. Returns 0; errors: those of
// the run's files and of the scheduler.
[[nodiscard]] Result<int> revive_job(const std::string& run_directory, unsigned attempt);

}  // namespace dts::launch
