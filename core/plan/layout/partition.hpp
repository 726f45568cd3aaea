// SPDX-License-Identifier: Apache-2.0
// The partition of a job, and its limits, and the one of its steps. Pure, thread-safe.
#pragma once

#include "core/base/diagnostics.hpp"
#include "core/plan/layout/fit.hpp"
#include "core/plan/plan.hpp"

#include <optional>
#include <vector>

namespace dts::plan {

// The partition that the job names, or the default one. If several are named, the scheduler takes
// one of them: all their nodes with the widest of their limits, so what does not fit this fits
// none of them. nullopt, with a problem if the cluster's partitions are known: there is none.
[[nodiscard]] std::optional<ClusterView::Partition> find_partition(const spec::JobSpec& spec,
                                                                   const ClusterView& cluster,
                                                                   Diagnostics& problems);

// Those that the job names, or the default one; empty: not known.
[[nodiscard]] std::vector<const ClusterView::Partition*> partitions_named(
    const spec::JobSpec& spec, const ClusterView& cluster);

[[nodiscard]] DefaultLimit default_limit(const spec::JobSpec& spec, const ClusterView& cluster);

// Appends a problem for each limit on time, nodes and memory that the job exceeds. Otherwise Slurm
// would accept the job and never start it (EnforcePartLimits in slurm.conf(5)).
void check_limits(const spec::JobSpec& spec,
                  const ClusterView::Partition& partition,
                  Diagnostics& problems);

// Appends a problem if each of the partitions that the job names has a limit that the job exceeds.
void check_each(const spec::JobSpec& spec, const ClusterView& cluster, Diagnostics& problems);

// Adds a reason if the job cannot start now, whatever nodes are free.
void note_closed_partition(Plan& plan, const Fit& fit);

// Appends a problem if srun starts fewer ranks on a node than the job needs: the job would start,
// and each of its attempts fail. If another launcher may be chosen in the job, adds a reason.
void check_step_size(Plan& plan, const ClusterView& cluster, Diagnostics& problems);

}  // namespace dts::plan
