// SPDX-License-Identifier: Apache-2.0
#include "core/forecast/warnings.hpp"

#include "core/base/text/counted.hpp"
#include "core/base/text/units.hpp"
#include "core/spec/parts.hpp"

#include <fmt/format.h>

namespace dts::forecast {
namespace {

using Warnings = std::vector<std::string>;

void check_gpus(const plan::Plan& plan, const std::string& part, Warnings& warnings) {
  const unsigned gpus = plan.gpus_per_node;
  const unsigned ranks = plan.ntasks_per_node;
  // Plans with more ranks than GPUs are refused elsewhere.
  if (gpus < ranks || ranks == 0 || plan.workers_per_task > 0) return;
  if (gpus % ranks != 0)
    warnings.push_back(fmt::format("{}{} of each node for {}: {} left over",
                                   part,
                                   counted(gpus, "GPU"),
                                   counted(ranks, "rank"),
                                   gpus % ranks == 1 ? "one is" : "some are"));
}

std::string default_limit(const sched::PartitionInfo* partition) {
  const auto length = [](std::int64_t seconds) {
    return format_time_limit(std::chrono::seconds(seconds));
  };
  if (partition != nullptr && partition->default_time_seconds > 0)
    return fmt::format("the default of partition {} is {}",
                       partition->name,
                       length(partition->default_time_seconds));
  const std::int64_t most = partition == nullptr ? 0 : partition->max_time_seconds;
  return "the site's default applies" + (most > 0 ? ", at most " + length(most) : std::string());
}

void check_limit(const Job& job,
                 const sched::PartitionInfo* partition,
                 const Outlook& outlook,
                 Warnings& warnings) {
  if (!job.spec.time)
    warnings.push_back(
        fmt::format("no --time: {}; a limit close to the need lets a job start earlier",
                    default_limit(partition)));
  const bool ends = outlook.limit && *outlook.limit != std::chrono::seconds::max();
  if (ends && job.plan.signal_margin.count() == 0)
    warnings.emplace_back(
        "it is not warned before its time limit: what was computed since the last save is lost "
        "then; see --signal-margin");
}

void check_sharing(const Job& job,
                   const sched::PartitionInfo* partition,
                   const Outlook& outlook,
                   Warnings& warnings) {
  if (outlook.size.nodes_by_default > 0)
    warnings.emplace_back("no --mem: each node gives it the site's default of memory");
  const bool by_partition = partition != nullptr && partition->gives_whole_nodes;
  const std::string who = by_partition
                              ? fmt::format("the partition {} gives whole nodes", partition->name)
                              : "--exclusive";
  if (outlook.gpus.all > outlook.size.gpus)
    warnings.push_back(
        fmt::format("{}: the job gets, and is billed for, all {} of its nodes, and asks for {}",
                    who,
                    counted(outlook.gpus.all, "GPU"),
                    outlook.size.gpus));
  else if (const auto processors = outlook.start.expected.processors;
           by_partition && processors > outlook.size.cores)
    warnings.push_back(
        fmt::format("{}: the job gets, and is billed for, all {} of its nodes, and asks for {}",
                    who,
                    counted(processors, "processor"),
                    outlook.size.cores));
  if (!job.spec.requeue)
    warnings.emplace_back("--no-requeue: a preemption or a lost node ends the run");
  if (!job.spec.after.empty())
    warnings.emplace_back("--after: it also waits for these runs, which is not in the start");
}

}  // namespace

std::vector<std::string> warnings_of(const Job& job,
                                     const sched::PartitionInfo* partition,
                                     const Outlook& outlook) {
  Warnings warnings;
  const auto& parts = spec::parts_of(job.spec);
  if (job.parts.empty()) check_gpus(job.plan, "", warnings);
  for (std::size_t i = 0; i < job.parts.size(); ++i)
    check_gpus(job.parts[i], spec::words_of(job.spec, parts.at(i)) + ": ", warnings);
  check_limit(job, partition, outlook, warnings);
  check_sharing(job, partition, outlook, warnings);
  if (partition != nullptr && !partition->up)
    warnings.push_back(fmt::format("the partition {} is not up: jobs may wait in it, none starts",
                                   partition->name));
  if (outlook.queue && outlook.queue->away > 0)
    warnings.push_back(fmt::format("{} of the {} of the partition {} away",
                                   outlook.queue->away,
                                   counted(outlook.queue->nodes, "node"),
                                   outlook.queue->away == 1 ? "is" : "are"));
  return warnings;
}

}  // namespace dts::forecast
