// SPDX-License-Identifier: Apache-2.0
// Submission by sbatch itself.
#pragma once

#include "plugins/slurm_shared/failure.hpp"

namespace slurm_plugin {

// Takes the same request as submit() and passes each field as an option of sbatch, so that the
// site's own sbatch reads, and rejects, what we do not know. The components of a heterogeneous job
// follow each other, separated by `:`. A "rejected" failure quotes sbatch; "unreachable" if there
// is no sbatch.
[[nodiscard]] Outcome<json> submit_by_sbatch(const json& request);

// The same request with --test-only: nothing is submitted, and the script need not be stored yet.
[[nodiscard]] Outcome<json> expect_by_sbatch(const json& request);

}  // namespace slurm_plugin
