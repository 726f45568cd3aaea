// SPDX-License-Identifier: Apache-2.0
// What the accounting, sacct(1), knows about a job that slurmctld has forgotten.
#pragma once

#include "plugins/slurm_shared/failure.hpp"

#include <nlohmann/json_fwd.hpp>

#include <string>

namespace slurm_plugin {

// The reply for the job `id`, marked as `accounted`, from what `sacct` printed; null if that does
// not contain the job's end. Pure, but for the name of a user who cancelled it.
[[nodiscard]] json accounted_job(const std::string& printed, const std::string& id);

// Returns `reply`, unless it is not_found and the accounting is in use and knows the end of the
// request's job: then the reply from the accounting.
[[nodiscard]] Outcome<json> or_accounted(Outcome<json> reply, const json& request);

}  // namespace slurm_plugin
