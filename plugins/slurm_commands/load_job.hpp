// SPDX-License-Identifier: Apache-2.0
// Asks slurmctld for a job.
#pragma once

#include "plugins/slurm_shared/failure.hpp"
#include "plugins/slurm_shared/record.hpp"

#include <vector>

namespace slurm_plugin {

// The record of the job with the request's "id"; not_found if slurmctld does not know it.
[[nodiscard]] Outcome<Record> load_job(const json& request);

// The reply for that job. While a job is ending, scontrol may not show its final state for a
// moment: this waits up to a second for it, and then reports the job as running.
[[nodiscard]] Outcome<json> job_reply(const json& request);

// The reply for a record, without another query.
[[nodiscard]] json job_reply(const Record& job);

}  // namespace slurm_plugin
