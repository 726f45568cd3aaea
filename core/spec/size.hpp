// SPDX-License-Identifier: Apache-2.0
// The size of a job as people give it, in totals or per node, per task or per GPU, brought to one
// form. Pure, thread-safe.
#pragma once

#include "core/base/diagnostics.hpp"
#include "core/spec/job_spec.hpp"

namespace dts::spec {

// Sets nodes, ntasks_per_node and gpus_per_node from JobSpec::totals, where these say anything, and
// clears the totals. Appends a problem where two options contradict each other, or where a total
// cannot be shared evenly: every node of a job has the same number of ranks and GPUs.
void settle_size(JobSpec& spec, Diagnostics& problems);

}  // namespace dts::spec
