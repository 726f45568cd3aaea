// SPDX-License-Identifier: Apache-2.0
// Submission by sbatch itself.
#pragma once

#include "plugins/slurm/failure.hpp"

namespace slurm_plugin {

// The same request as submit() takes, with each of its fields as an option of sbatch, so that what
// we do not know is read, and refused, by the site's own sbatch. The components of a heterogeneous
// job follow each other, separated by `:`. "rejected" has sbatch's words;
// "unreachable" where there is no sbatch.
[[nodiscard]] Outcome<json> submit_by_sbatch(const json& request);

}  // namespace slurm_plugin
