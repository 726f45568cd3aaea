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
// several for an array or a heterogeneous job, and one per cluster of a federation. On failure
// scontrol's message, preceded by "WHAT: " unless `what` is empty; not_found if slurmctld does not
// know the job.
[[nodiscard]] Outcome<std::vector<Record>> show_job(const std::string& job,
                                                    const std::string& what = {},
                                                    Of of = Of::this_cluster);

}  // namespace slurm_plugin
