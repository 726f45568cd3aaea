// SPDX-License-Identifier: Apache-2.0
// The limits of the site that a single job can exceed by itself. Pure.
#pragma once

#include "core/base/diagnostics.hpp"
#include "core/plan/layout/fit.hpp"

#include <cstdint>
#include <optional>
#include <string>

namespace dts::plan {

// The name of a plan's reason: the job may wait for ever, for all that can be known.
inline constexpr const char* k_may_wait = "may never start";

// Others: no partition of the job starts jobs now; srun cannot start as many ranks.
inline constexpr const char* k_waits = "waits";
inline constexpr const char* k_not_by_srun = "not by srun";

// Appends a problem for each limit that the planned job exceeds in every partition that it names.
// Otherwise Slurm would accept the job and never start it. If the site's own rules may change the
// job, the plan gets a reason instead.
void check_job_limits(Plan& plan,
                      const spec::JobSpec& spec,
                      const ClusterView& cluster,
                      const Fit& fit,
                      Diagnostics& problems);

// Appends a problem if the elements of an array are more than a user may submit.
void check_elements(std::uint64_t elements,
                    const spec::JobSpec& spec,
                    const ClusterView& cluster,
                    Diagnostics& problems);

}  // namespace dts::plan
