// SPDX-License-Identifier: Apache-2.0
#include "core/plan/layout/job_limits.hpp"

#include "core/base/text/counted.hpp"
#include "core/base/text/text.hpp"
#include "core/base/text/units.hpp"
#include "core/plan/billed.hpp"
#include "core/plan/layout/decide.hpp"
#include "core/plan/layout/memory_need.hpp"
#include "core/plan/layout/partition.hpp"
#include "core/plan/limit_words.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <utility>
#include <vector>

namespace dts::plan {
namespace {

constexpr std::uint64_t k_unbounded = std::numeric_limits<std::uint64_t>::max();

// What a job asks for. Slurm may give it more, such as whole cores.
struct JobDemand {
  const spec::JobSpec& spec;
  const Fit& fit;
  const ClusterView& cluster;
  unsigned nodes = 1;
  std::uint64_t ranks = 1;  // of all nodes
  std::uint64_t cpus = 0;   // of each node, as the others; 0: not known
  std::uint64_t gpus = 0;
  std::uint64_t memory_mib = 0;
  const char* memory_option = "--mem";
  std::optional<std::uint64_t> minutes{};
};

// Memory is counted as it is requested only where nodes share it out.
void add_demanded_memory(JobDemand& demand) {
  const auto need = memory_need(demand.spec, demand.fit.memory);
  if (!need || !demand.fit.memory->is_shared_out) return;
  if (need->option != nullptr) demand.memory_option = need->option;
  demand.memory_mib = need->of_node(demand.cpus, demand.gpus);
}

JobDemand job_demand(const Plan& plan,
                     const spec::JobSpec& spec,
                     const ClusterView& cluster,
                     const Fit& fit) {
  JobDemand demand{.spec = spec, .fit = fit, .cluster = cluster, .nodes = plan.nodes + plan.spares};
  demand.ranks = std::uint64_t{demand.nodes} * plan.ntasks_per_node;
  if (spec.slurm.count("overcommit") == 0)
    demand.cpus = std::uint64_t{plan.ntasks_per_node} * plan.cpus_per_task;
  demand.gpus = plan.gpus_per_node;
  const std::chrono::seconds time = spec.time.value_or(fit.default_limit.for_limits());
  if (time.count() > 0 && spec.slurm.count("time-min") == 0)
    demand.minutes = time == std::chrono::seconds::max()
                         ? k_unbounded
                         : (static_cast<std::uint64_t>(time.count()) + 59) / 60;
  add_demanded_memory(demand);
  return demand;
}

// Of each node, without regard to time; nullopt: not known.
std::optional<std::uint64_t> least_of_node(const JobLimit& limit, const JobDemand& demand) {
  switch (limit.of) {
    case JobLimit::Of::nodes:
      return 1;
    case JobLimit::Of::cpus:
      return demand.cpus;
    case JobLimit::Of::memory:
      return demand.memory_mib;
    case JobLimit::Of::gpus:
      if (!limit.gpu_type.empty() && limit.gpu_type != demand.spec.gpu_type) return std::nullopt;
      return demand.gpus;
    case JobLimit::Of::every_job:
    case JobLimit::Of::time:
    case JobLimit::Of::elements:
    case JobLimit::Of::billing:
      break;
  }
  return std::nullopt;
}

// GPUs that the plan does not know.
bool asks_in_other_ways(const spec::JobSpec& spec) {
  const auto is_of_tres = [](const auto& option) {
    return option.first.starts_with("tres-per-") || option.first.starts_with("gpus-per-") ||
           option.first == "gres";
  };
  return std::any_of(spec.slurm.begin(), spec.slurm.end(), is_of_tres) ||
         std::any_of(spec.slurm_site.begin(), spec.slurm_site.end(), is_of_tres);
}

// The most that the job may get of each node, whatever it asks for.
std::optional<std::uint64_t> most_of_node(const JobLimit& limit, const JobDemand& demand) {
  if (limit.of == JobLimit::Of::nodes) return 1;
  if (limit.of == JobLimit::Of::gpus && asks_in_other_ways(demand.spec)) return std::nullopt;
  if (limit.of == JobLimit::Of::gpus && demand.spec.slurm.count("exclusive") == 0) {
    const bool is_sure =
        limit.gpu_type.empty() || demand.gpus == 0 || !demand.spec.gpu_type.empty();
    if (!is_sure) return std::nullopt;
    return limit.gpu_type.empty() || limit.gpu_type == demand.spec.gpu_type ? demand.gpus : 0;
  }
  if (limit.of != JobLimit::Of::cpus || !demand.fit.known) return std::nullopt;
  std::uint64_t most = 0;
  for (const ClusterView::Node& node : demand.fit.all)
    most = std::max<std::uint64_t>(most, node.cpus);
  return most;
}

std::uint64_t capped_product(std::uint64_t one, std::uint64_t other) {
  return one != 0 && other > k_unbounded / one ? k_unbounded : one * other;
}

// What is not known of the job costs nothing.
std::vector<BilledTerm> billed(const ClusterView::Partition& partition, const JobDemand& demand) {
  const std::uint64_t nodes = demand.nodes;
  return billed_terms({nodes,
                       capped_product(demand.cpus, nodes),
                       capped_product(demand.memory_mib, nodes),
                       capped_product(demand.gpus, nodes),
                       demand.spec.gpu_type},
                      partition.billing);
}

JobLimit::Of costliest(const std::vector<BilledTerm>& terms) {
  return std::ranges::max_element(terms, {}, &BilledTerm::units)->of;
}

// Of the whole job or of each node, without regard to time; nullopt: not known.
std::optional<std::uint64_t> demanded_at_once(const JobLimit& limit,
                                              const ClusterView::Partition& partition,
                                              const JobDemand& demand) {
  if (limit.of == JobLimit::Of::billing)
    return limit.is_least || limit.is_per_node
               ? std::nullopt
               : std::optional(
                     billed_units(demand.cluster.billing_rule, billed(partition, demand)));
  const auto of_node = limit.is_least ? most_of_node(limit, demand) : least_of_node(limit, demand);
  if (!of_node || limit.is_per_node) return of_node;
  return capped_product(*of_node, demand.nodes);
}

// What the job asks for of that which is limited; nullopt: not known.
std::optional<std::uint64_t> demanded(const JobLimit& limit,
                                      const ClusterView::Partition& partition,
                                      const JobDemand& demand) {
  if (limit.of == JobLimit::Of::time) return demand.minutes;
  const auto all = demanded_at_once(limit, partition, demand);
  if (!all || !limit.is_with_time) return all;
  return demand.minutes ? std::optional(capped_product(*all, *demand.minutes)) : std::nullopt;
}

// "8 CPUs for 60 minutes (480 CPU-minutes) requested"
std::string demanded_words(const JobLimit& limit, const JobDemand& demand, std::uint64_t amount) {
  const auto& time = demand.spec.time;
  if (limit.of == JobLimit::Of::time)
    return time ? format_time_limit(*time) + " requested"
                : "no --time requested, and the partition's default is " +
                      format_time_limit(demand.fit.default_limit.limit);
  if (limit.is_least && limit.of == JobLimit::Of::cpus)
    return fmt::format("a job gets at most {} of {}",
                       amount_in_words(limit, amount),
                       counted(demand.nodes, "node"));
  if (!limit.is_with_time)
    return amount_in_words(limit, amount) + (limit.is_per_node ? " of each node" : "") +
           " requested";
  if (demand.minutes == k_unbounded) return "no time limit requested";
  const std::string all =
      amount_in_words(limit, demand.minutes == 0 ? 0 : amount / *demand.minutes);
  const std::string minutes = counted(*demand.minutes, "minute");
  const std::string product = words_with_minutes(limit, amount);
  return time ? fmt::format("{} for {} ({}) requested", all, minutes, product)
              : fmt::format(
                    "{} requested, for {} by the partition's default ({})", all, minutes, product);
}

// `of`: what is limited, or of several billed resources the costliest.
const char* demanding_option(JobLimit::Of of, const JobLimit& limit, const JobDemand& demand) {
  if (demand.minutes == k_unbounded && limit.is_with_time) return "--time";
  switch (of) {
    case JobLimit::Of::nodes:
      return "--nodes";
    case JobLimit::Of::cpus:
      if (demand.spec.cpus_per_gpu) return "--cpus-per-gpu";
      return demand.spec.cpus_per_task || demand.ranks <= limit.amount ? "--cpus-per-task"
                                                                       : "--ntasks-per-node";
    case JobLimit::Of::memory:
      return demand.memory_option;
    case JobLimit::Of::gpus:
      return "--gpus-per-node";
    case JobLimit::Of::time:
      return "--time";
    case JobLimit::Of::every_job:
    case JobLimit::Of::elements:
    case JobLimit::Of::billing:
      break;
  }
  return "--array";
}

// The first option in "another --account or --partition".
std::string named_option(const std::string& words) {
  const std::size_t begin = std::min(words.find("--"), words.size());
  return words.substr(begin, words.find(' ', begin) - begin);
}

Diagnostic excess_of(const JobLimit& limit,
                     const ClusterView::Partition& partition,
                     const JobDemand& demand,
                     std::uint64_t amount) {
  const bool is_time_asked = demand.spec.time || !limit.is_with_time;
  const std::string more = limit.is_least  ? "ask for more"
                           : is_time_asked ? "ask for less"
                                           : "ask for less, or for a shorter --time";
  const JobLimit::Of of =
      limit.of == JobLimit::Of::billing ? costliest(billed(partition, demand)) : limit.of;
  const std::string bound = limit.is_with_time ? words_with_minutes(limit, limit.amount)
                                               : amount_in_words(limit, limit.amount);
  return {demanding_option(of, limit, demand),
          fmt::format("{}, but {} at {} {}{} ({})",
                      demanded_words(limit, demand, amount),
                      limit.place,
                      limit.is_least ? "least" : "most",
                      bound,
                      limit.is_per_node ? " of each node" : "",
                      limit.name),
          more + (limit.instead.empty() ? "" : ", or for " + limit.instead)};
}

// One problem for each option.
Diagnostics excesses_in(const ClusterView::Partition& partition, const JobDemand& demand) {
  Diagnostics found;
  for (const JobLimit& limit : partition.limits) {
    if (limit.of == JobLimit::Of::every_job) {
      found.push_back({named_option(limit.instead), limit.place, "ask for " + limit.instead});
      continue;
    }
    const auto amount = demanded(limit, partition, demand);
    if (!amount || (limit.is_least ? *amount >= limit.amount : *amount <= limit.amount)) continue;
    Diagnostic problem = excess_of(limit, partition, demand, *amount);
    const bool is_new = std::none_of(found.begin(), found.end(), [&](const Diagnostic& other) {
      return other.where == problem.where;
    });
    if (is_new) found.push_back(std::move(problem));
  }
  return found;
}

}  // namespace

void check_job_limits(Plan& plan,
                      const spec::JobSpec& spec,
                      const ClusterView& cluster,
                      const Fit& fit,
                      Diagnostics& problems) {
  const JobDemand demand = job_demand(plan, spec, cluster, fit);
  Diagnostics found;
  const auto partitions = partitions_named(spec, cluster);
  for (const ClusterView::Partition* partition : partitions) {
    Diagnostics own = excesses_in(*partition, demand);
    if (own.empty()) return;
    if (partitions.size() > 1)
      own.front().message =
          fmt::format("in partition {}: {}", partition->name, own.front().message);
    found.insert(found.end(), own.begin(), partitions.size() > 1 ? own.begin() + 1 : own.end());
  }
  // A held job waits for somebody who may change it, too.
  if (!cluster.may_change_jobs && spec.slurm.count("hold") == 0)
    return void(problems.insert(problems.end(), found.begin(), found.end()));
  for (const Diagnostic& problem : found)
    decide(plan, k_may_wait, std::string(), problem.where + ": " + problem.message);
}

void check_elements(std::uint64_t elements,
                    const spec::JobSpec& spec,
                    const ClusterView& cluster,
                    Diagnostics& problems) {
  if (cluster.may_change_jobs) return;
  for (const ClusterView::Partition* partition : partitions_named(spec, cluster))
    for (const JobLimit& limit : partition->limits) {
      if (limit.of != JobLimit::Of::elements || elements <= limit.amount) continue;
      problems.push_back({spec.sweep.empty() ? "--array" : "--sweep",
                          fmt::format("{}, but {} at most {} in the queue ({})",
                                      counted(elements, "element"),
                                      limit.place,
                                      limit.amount,
                                      limit.name),
                          "submit it in parts, one after another"});
      return;
    }
}

}  // namespace dts::plan
