// SPDX-License-Identifier: Apache-2.0
// The GPUs that a job is billed for. Pure, thread-safe.
#pragma once

#include "core/forecast/size.hpp"
#include "core/sched/scheduler.hpp"

#include <map>
#include <string>
#include <vector>

namespace dts::forecast {

struct Gpus {
  unsigned all = 0;
  std::map<std::string, unsigned> by_type{};  // by the site's names of types, as far as known
};

// `nodes` are the nodes that the job would get; empty: not known. With `whole_nodes`, the job gets
// all GPUs on them. GPUs that were requested without a type count as of the type of the nodes' GPUs
// (slurm.conf(5), AccountingStorageTRES) if these are all of one type.
[[nodiscard]] Gpus billed_gpus(const Size& size,
                               const std::vector<sched::NodeInfo>& nodes,
                               bool whole_nodes);

}  // namespace dts::forecast
