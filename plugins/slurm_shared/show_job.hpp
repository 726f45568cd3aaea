// SPDX-License-Identifier: Apache-2.0
// A job as scontrol(1) shows it.
#pragma once

#include "plugins/slurm_shared/failure.hpp"
#include "plugins/slurm_shared/record.hpp"

#include <string>
#include <vector>

namespace slurm_plugin {

enum class Of { this_cluster, its_federation };

// The records that `scontrol --details show job` prints for `job` ("4711", "4711_3", "4711+1"):
// more than one for an array or a heterogeneous job, and one for each cluster of a federation.
// Otherwise scontrol's words, preceded by "WHAT: " unless `what` is empty; not_found if slurmctld
// does not know the job.
[[nodiscard]] Outcome<std::vector<Record>> show_job(const std::string& job,
                                                    const std::string& what = {},
                                                    Of of = Of::this_cluster);

}  // namespace slurm_plugin
