// SPDX-License-Identifier: Apache-2.0
// Normalises the size of a job, which users may give in totals, per node, per task or per GPU.
// Pure, thread-safe.
#pragma once

#include "core/base/diagnostics.hpp"
#include "core/spec/job_spec.hpp"

#include <cstdint>

namespace dts::spec {

// Sets nodes, ntasks_per_node and gpus_per_node from JobSpec::totals where given, and clears the
// totals. Appends a problem where two options contradict each other, or where a total cannot be
// divided evenly: every node of a job has the same number of ranks and GPUs.
void settle_size(JobSpec& spec, Diagnostics& problems);

// How many of `nodes` (1 or more) share `ntasks` evenly, at most.
[[nodiscard]] std::uint64_t nodes_that_share(std::uint64_t ntasks, std::uint64_t nodes);

// Of a step, before settle_size(): its ranks, if given in total only, are on the job's `nodes`, as
// those of srun -n, srun(1).
void share_nodes_of_job(JobSpec& step, unsigned nodes);

}  // namespace dts::spec
