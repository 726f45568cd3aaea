// SPDX-License-Identifier: Apache-2.0
// What the accounting, sacct(1), knows of a job that slurmctld has forgotten.
#pragma once

#include "plugins/slurm_shared/failure.hpp"

#include <nlohmann/json_fwd.hpp>

#include <string>

namespace slurm_plugin {

// The reply for the job `id`, marked as `accounted`, from what `sacct` printed; null if it says of
// no such job that it ended. Pure but for the name of a user who cancelled it.
[[nodiscard]] json accounted_job(const std::string& printed, const std::string& id);

// `reply`; but if that is not_found, the reply from the accounting if that is in use and knows the
// end of the request's job.
[[nodiscard]] Outcome<json> or_accounted(Outcome<json> reply, const json& request);

}  // namespace slurm_plugin
