// SPDX-License-Identifier: Apache-2.0
// Asks slurmctld for a job.
#pragma once

#include "plugins/slurm_shared/failure.hpp"
#include "plugins/slurm_shared/record.hpp"

#include <vector>

namespace slurm_plugin {

// The record of the request's "id". not_found if slurmctld does not know it.
[[nodiscard]] Outcome<Record> load_job(const json& request);

// The reply for that job. While a job is ending, scontrol may not reveal for a moment how: waits
// for it, a second at most, and then calls the job running.
[[nodiscard]] Outcome<json> job_reply(const json& request);

// The reply for a record that is not asked for again.
[[nodiscard]] json job_reply(const Record& job);

}  // namespace slurm_plugin
