// SPDX-License-Identifier: Apache-2.0
#include "core/plan/layout/memory_need.hpp"

#include "core/base/text/counted.hpp"
#include "core/base/text/units.hpp"
#include "core/plan/layout/cpus.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

namespace dts::plan {
namespace {

using Of = MemoryNeed::Of;

std::optional<MemoryNeed> requested_for_each(const spec::JobSpec& spec, Of of, const char* option) {
  const auto found = spec.slurm.find(option + 2);
  if (found == spec.slurm.end()) return std::nullopt;
  const auto amount = parse_memory_mib(found->second);
  return amount ? std::optional(MemoryNeed{of, *amount, option}) : std::nullopt;
}

std::uint64_t rounded_up_quotient(std::uint64_t amount, std::uint64_t unit) {
  return (amount + unit - 1) / unit;
}

// A node's CPUs and memory as a job gets them, and what it asks for there.
struct Case {
  const Fit& fit;
  const MemoryNeed& need;
  std::uint64_t cpus = 0;
  unsigned gpus = 0;
  std::uint64_t least_memory = 0, most_memory = 0;  // of a node
  unsigned most_cpus = 0;

  // --mem, which the partition's and the nodes' own checks cover.
  [[nodiscard]] bool is_plain_request() const {
    return need.of == Of::node && need.option != nullptr;
  }

  // Of a node, in MiB.
  [[nodiscard]] std::uint64_t amount() const {
    if (need.of == Of::whole_node) return least_memory;
    return need.mib * (need.of == Of::cpu ? cpus : need.of == Of::gpu ? gpus : 1);
  }

  // "8 CPUs of a node with 500 MiB each by the site's default, 4000 in all"
  [[nodiscard]] std::string words() const {
    const bool is_default = need.option == nullptr;
    const std::uint64_t all = amount();
    if (need.of == Of::whole_node)
      return is_default
                 ? fmt::format("none requested, so the job gets all memory of a node, {} MiB", all)
                 : fmt::format("all memory of a node requested, {} MiB", all);
    if (need.of == Of::node)
      return is_default ? fmt::format("none requested, and the site's default is {} MiB", all)
                        : fmt::format("{} MiB requested", all);
    return fmt::format("{} of a node with {} MiB each{}, {} in all",
                       need.of == Of::cpu ? counted(cpus, "CPU") : counted(gpus, "GPU"),
                       need.mib,
                       is_default ? " by the site's default" : "",
                       all);
  }

  [[nodiscard]] Diagnostic problem(const std::string& limit, std::uint64_t most) const {
    const std::string less = fmt::format("--mem {}M", most);
    return {need.option == nullptr ? "--mem" : need.option,
            words() + ", but " + limit,
            need.of == Of::cpu ? "ask for fewer CPUs, or for memory of a node: " + less
                               : "ask for less: " + less};
  }
};

Case case_of(const spec::JobSpec& spec, const Fit& fit, const MemoryNeed& need) {
  Case one{.fit = fit, .need = need, .gpus = spec.gpus_per_node.value_or(0)};
  // Slurm looks at the partition's first node, whether or not the job can run there.
  one.least_memory = fit.all.front().memory_mib;
  for (const ClusterView::Node& node : fit.all)
    one.least_memory = std::min(one.least_memory, node.memory_mib);
  for (const ClusterView::Node& node : fit.nodes.empty() ? fit.all : fit.nodes) {
    one.most_memory = std::max(one.most_memory, node.memory_mib);
    one.most_cpus = std::max(one.most_cpus, possible_cpus(node, spec, fit.max_cpus_per_node));
  }
  return one;
}

std::optional<Diagnostic> beyond_partition(const Case& one) {
  const std::uint64_t most = one.fit.max_memory_mib;
  if (most == 0 || one.is_plain_request() || one.need.of == Of::gpu || one.amount() <= most)
    return std::nullopt;
  return one.problem(
      fmt::format("partition {} gives a job at most {} of a node", one.fit.partition, most), most);
}

std::optional<Diagnostic> beyond_nodes(const Case& one, const MemoryRules& rules) {
  if (!rules.is_shared_out || one.is_plain_request() || one.amount() <= one.most_memory)
    return std::nullopt;
  return one.problem(
      fmt::format("the maximum in partition {} is {}", one.fit.partition, one.most_memory),
      one.most_memory);
}

// Slurm gives a job more CPUs if it asks for more memory than its CPUs get at most.
std::optional<Diagnostic> beyond_cpus(const Case& one, const MemoryRules& rules) {
  const std::uint64_t each = rules.max_per_cpu_mib;
  if (each == 0 || one.need.of == Of::gpu || one.most_cpus == 0) return std::nullopt;
  const std::uint64_t cpus =
      one.need.of == Of::cpu
          ? one.cpus * std::max<std::uint64_t>(1, rounded_up_quotient(one.need.mib, each))
          : rounded_up_quotient(one.amount(), each);
  if (cpus <= one.most_cpus) return std::nullopt;
  return one.problem(fmt::format("partition {} gives a job at most {} MiB with each CPU, and a "
                                 "node has {}",
                                 one.fit.partition,
                                 each,
                                 counted(one.most_cpus, "CPU")),
                     each * one.most_cpus);
}

}  // namespace

std::optional<MemoryNeed> memory_need(const spec::JobSpec& spec,
                                      const std::optional<MemoryRules>& rules) {
  if (!rules) return std::nullopt;
  if (spec.memory_mib)
    return MemoryNeed{*spec.memory_mib == 0 ? Of::whole_node : Of::node, *spec.memory_mib, "--mem"};
  if (auto each = requested_for_each(spec, Of::cpu, "--mem-per-cpu")) return each;
  if (auto each = requested_for_each(spec, Of::gpu, "--mem-per-gpu")) return each;
  if (spec.gpus_per_node.value_or(0) > 0 && rules->default_per_gpu_mib > 0)
    return MemoryNeed{Of::gpu, rules->default_per_gpu_mib};
  if (rules->default_per_cpu_mib > 0) return MemoryNeed{Of::cpu, rules->default_per_cpu_mib};
  if (rules->default_mib > 0) return MemoryNeed{Of::node, rules->default_mib};
  return MemoryNeed{};
}

unsigned cpus_with_memory(unsigned cpus,
                          const ClusterView::Node& node,
                          const spec::JobSpec& spec,
                          const Fit& fit) {
  const std::optional<MemoryRules>& rules = fit.memory;
  const auto need = memory_need(spec, rules);
  if (!need || need->of != Of::cpu || need->mib == 0 || cpus == 0) return cpus;
  std::uint64_t most = cpus;
  if (rules->max_per_cpu_mib > 0) most /= rounded_up_quotient(need->mib, rules->max_per_cpu_mib);
  if (rules->is_shared_out && node.memory_mib > 0)
    most = std::min(most, node.memory_mib / need->mib);
  // A job that gets whole nodes has memory for all of their CPUs counted.
  if (fit.max_memory_mib > 0 && spec.slurm.count("exclusive") == 0)
    most = std::min(most, fit.max_memory_mib / need->mib);
  return static_cast<unsigned>(std::max<std::uint64_t>(1, most));
}

void check_memory_need(const spec::JobSpec& spec,
                       const Fit& fit,
                       std::uint64_t cpus,
                       Diagnostics& problems) {
  const auto need = memory_need(spec, fit.memory);
  if (!need || fit.all.empty()) return;
  Case one = case_of(spec, fit, *need);
  one.cpus = cpus;
  if (one.most_memory == 0) return;  // not known
  for (const auto& problem :
       {beyond_partition(one), beyond_nodes(one, *fit.memory), beyond_cpus(one, *fit.memory)})
    if (problem) return problems.push_back(*problem);
}

}  // namespace dts::plan
