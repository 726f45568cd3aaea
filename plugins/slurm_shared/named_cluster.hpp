// SPDX-License-Identifier: Apache-2.0
// The cluster that the user's environment names for sbatch.
#pragma once

#include "plugins/slurm_shared/failure.hpp"

#include <functional>
#include <string>

namespace slurm_plugin {

// The value of a variable, nullptr if it is not set: std::getenv.
using Variable = std::function<const char*(const char* name)>;

// Whether a submission would be one for another cluster: sbatch heeds SBATCH_CLUSTERS and
// SLURM_CLUSTERS, and we submit to the cluster of the configuration only. Never inside a job, which
// may inherit them: it continues its run where it is.
[[nodiscard]] bool names_clusters(const Variable& variable);

// "rejected" if these variables do not list `cluster`.
[[nodiscard]] Outcome<void> check_named_cluster(const Variable& variable,
                                                const std::string& cluster);

}  // namespace slurm_plugin
