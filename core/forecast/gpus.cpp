// SPDX-License-Identifier: Apache-2.0
#include "core/forecast/gpus.hpp"

#include <algorithm>
#include <numeric>

namespace dts::forecast {
namespace {

Gpus gpus_of(const std::vector<sched::NodeInfo>& nodes) {
  Gpus gpus;
  for (const sched::NodeInfo& node : nodes) {
    gpus.all += node.gpus;
    for (const auto& [type, number] : node.gpu_types) gpus.by_type[type] += number;
  }
  return gpus;
}

unsigned typed(const Gpus& gpus) {
  return std::accumulate(
      gpus.by_type.begin(), gpus.by_type.end(), 0U, [](unsigned sum, const auto& one) {
        return sum + one.second;
      });
}

}  // namespace

Gpus billed_gpus(const Size& size, const std::vector<sched::NodeInfo>& nodes, bool whole_nodes) {
  const Gpus there = gpus_of(nodes);
  // The node may have changed since the scheduler answered.
  if (whole_nodes && there.all >= size.gpus) return there;
  Gpus gpus{size.gpus, size.gpus_by_type};
  const bool is_of_one_type = there.by_type.size() == 1 && typed(there) == there.all;
  const unsigned untyped = gpus.all - std::min(gpus.all, typed(gpus));
  if (is_of_one_type && untyped > 0) gpus.by_type[there.by_type.begin()->first] += untyped;
  return gpus;
}

}  // namespace dts::forecast
