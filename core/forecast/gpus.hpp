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
  std::map<std::string, unsigned>
      by_type{};  // of them, by the site's names of types, as far as known
};

// `nodes` are those that the job would get; empty: not known. With `whole_nodes` it gets all that
// is on them. GPUs asked for without a type count as the type of the nodes' GPUs (slurm.conf(5),
// AccountingStorageTRES), where all are of one.
[[nodiscard]] Gpus billed_gpus(const Size& size,
                               const std::vector<sched::NodeInfo>& nodes,
                               bool whole_nodes);

}  // namespace dts::forecast
