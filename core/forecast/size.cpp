// SPDX-License-Identifier: Apache-2.0
#include "core/forecast/size.hpp"

#include "core/base/text/units.hpp"

namespace dts::forecast {
namespace {

// The value of an option like --mem-per-gpu, which spec has already checked.
std::optional<std::uint64_t> mebibytes(const spec::JobSpec& spec, const char* option) {
  const auto found = spec.slurm.find(option);
  if (found == spec.slurm.end()) return std::nullopt;
  const auto amount = parse_memory_mib(found->second);
  return amount ? std::optional(*amount) : std::nullopt;
}

void add(Size& size, const spec::JobSpec& spec, const plan::Plan& plan) {
  const unsigned nodes = plan.nodes + plan.spares;
  const unsigned gpus = nodes * plan.gpus_per_node;
  size.nodes += nodes;
  size.spares += plan.spares;
  size.ranks += plan.world_size;
  size.cores += std::uint64_t{nodes} * plan.ntasks_per_node * plan.cpus_per_task;
  size.gpus += gpus;
  if (gpus > 0 && !spec.gpu_type.empty()) size.gpus_by_type[spec.gpu_type] += gpus;
  const auto memory = memory_a_node(spec, plan);
  if (!memory)
    size.nodes_by_default += nodes;
  else if (*memory == 0)
    size.nodes_with_all_memory += nodes;
  else
    size.memory_mib += nodes * *memory;
}

}  // namespace

std::optional<std::uint64_t> memory_a_node(const spec::JobSpec& spec, const plan::Plan& plan) {
  if (const auto each = mebibytes(spec, "mem-per-cpu"))
    return *each * plan.ntasks_per_node * plan.cpus_per_task;
  if (const auto each = mebibytes(spec, "mem-per-gpu")) return *each * plan.gpus_per_node;
  return spec.memory_mib;
}

Size size_of(const spec::JobSpec& spec,
             const plan::Plan& plan,
             const std::vector<plan::Plan>& parts) {
  Size size;
  if (!spec.heterogeneous) {
    add(size, spec, plan);
    return size;
  }
  for (std::size_t i = 0; i < parts.size(); ++i) add(size, spec.roles.at(i).job, parts[i]);
  return size;
}

}  // namespace dts::forecast
