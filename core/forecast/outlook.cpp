// SPDX-License-Identifier: Apache-2.0
#include "core/forecast/outlook.hpp"

#include "core/base/text/names.hpp"
#include "core/base/text/text.hpp"
#include "core/forecast/warnings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace dts::forecast {
namespace {

constexpr Names<Start::Answer, 3> k_answers{{
    {Start::Answer::expected, "expected"},
    {Start::Answer::never, "never"},
    {Start::Answer::unknown, "unknown"},
}};

constexpr std::uint64_t k_seed = 1;
constexpr unsigned k_repetitions = 100;

std::optional<std::chrono::seconds> limit_of(const spec::JobSpec& spec,
                                             const sched::PartitionInfo* partition) {
  if (spec.time) return spec.time;
  if (partition != nullptr && partition->default_time_seconds > 0)
    return std::chrono::seconds(partition->default_time_seconds);
  if (partition == nullptr || partition->max_time_seconds == 0) return std::nullopt;
  return partition->max_time_seconds < 0 ? std::chrono::seconds::max()
                                         : std::chrono::seconds(partition->max_time_seconds);
}

std::vector<sched::NodeInfo> nodes_in(const Site& site, const std::string& list) {
  const auto names = hosts_in(list);
  std::vector<sched::NodeInfo> nodes;
  for (const sched::NodeInfo& node : site.queue.nodes)
    if (names.contains(node.name)) nodes.push_back(node);
  return nodes;
}

// The smallest memory of any node of the partition.
std::uint64_t node_memory(const Site& site, const sched::PartitionInfo& partition) {
  std::uint64_t least = 0;
  for (const sched::NodeInfo& node : nodes_in(site, partition.nodes))
    if (node.memory_mib > 0)
      least = least == 0 ? node.memory_mib : std::min(least, node.memory_mib);
  return least;
}

// True because of --exclusive, but not --exclusive=user and the like (sbatch(1)), or because of the
// partition, null if it is not known.
bool has_whole_nodes(const spec::JobSpec& spec, const sched::PartitionInfo* partition) {
  const auto exclusive = spec.slurm.find("exclusive");
  const bool asks = exclusive != spec.slurm.end() && exclusive->second.empty();
  return asks || (partition != nullptr && partition->gives_whole_nodes);
}

std::optional<Goodput> goodput_of(const Outlook& outlook, const reliability::Model& assumed) {
  Goodput goodput{assumed, {}, true};
  reliability::Model& model = goodput.model;
  model.nodes = std::max(1U, outlook.size.nodes - outlook.size.spares);
  model.policy.spares = outlook.size.spares;
  goodput.is_of_limit = outlook.limit && *outlook.limit != std::chrono::seconds::max();
  if (goodput.is_of_limit) model.wall = Seconds(*outlook.limit);
  auto estimate = reliability::simulate(model, k_seed, k_repetitions);
  if (!estimate) return std::nullopt;
  goodput.estimate = *std::move(estimate);
  return goodput;
}

// How many nodes it would start on must be powered up before, and how long that takes.
void count_powered_down(const Site& site, Outlook& outlook) {
  const auto nodes = nodes_in(site, outlook.start.expected.nodes);
  outlook.powered_down =
      static_cast<unsigned>(std::ranges::count(nodes, true, &sched::NodeInfo::powered_down));
  if (outlook.powered_down > 0) outlook.power_up = std::chrono::seconds(site.power_up_seconds);
}

// The scheduler forecasts starts in partitions that start no jobs, too.
void heed_state(const sched::PartitionInfo& partition, Start& start) {
  if (partition.up || start.answer != Start::Answer::expected) return;
  start.answer = Start::Answer::unknown;
  start.why = fmt::format("partition {} is not up now", partition.name);
  start.hint = "choose another --partition, or submit it and wait";
}

}  // namespace

const char* to_string(Start::Answer answer) {
  return name_of(k_answers, answer);
}

Start start_of(Result<sched::Expected> outcome) {
  Start start;
  if (outcome) {
    start.answer = Start::Answer::expected;
    start.expected = *std::move(outcome);
    return start;
  }
  if (outcome.error().code == Errc::rejected) start.answer = Start::Answer::never;
  start.why = std::move(outcome.error().message);
  start.hint = std::move(outcome.error().hint);
  return start;
}

const sched::PartitionInfo* partition_of(const Site& site,
                                         const spec::JobSpec& spec,
                                         const Start& start) {
  std::string name = start.expected.partition;
  if (name.empty()) name = split(spec.partition, ',').front();
  const auto found = std::find_if(
      site.partitions.begin(), site.partitions.end(), [&](const sched::PartitionInfo& one) {
        return name.empty() ? one.is_default : one.name == name;
      });
  return found == site.partitions.end() ? nullptr : &*found;
}

Outlook predict_outlook(const Job& job,
                        const Site* site,
                        Start start,
                        const reliability::Model& assumed) {
  Outlook outlook;
  outlook.size = size_of(job.spec, job.plan, job.parts);
  const auto* partition = site == nullptr ? nullptr : partition_of(*site, job.spec, start);
  outlook.limit = limit_of(job.spec, partition);
  outlook.whole_nodes = has_whole_nodes(job.spec, partition);
  outlook.start = std::move(start);
  if (site != nullptr) count_powered_down(*site, outlook);
  if (partition != nullptr) {
    heed_state(*partition, outlook.start);
    // A site may hide its nodes.
    if (!site->queue.nodes.empty())
      outlook.queue = queue_of(site->queue, *partition, outlook.start.expected.nodes);
    outlook.gpus = billed_gpus(
        outlook.size, nodes_in(*site, outlook.start.expected.nodes), outlook.whole_nodes);
    outlook.cost = cost_of({.size = outlook.size,
                            .gpus = outlook.gpus,
                            .processors = outlook.start.expected.processors,
                            .node_memory_mib = node_memory(*site, *partition),
                            .limit = outlook.limit},
                           partition->billing,
                           site->billing_rule);
  }
  outlook.goodput = goodput_of(outlook, assumed);
  outlook.warnings = warnings_of(job, partition, outlook);
  return outlook;
}

}  // namespace dts::forecast
