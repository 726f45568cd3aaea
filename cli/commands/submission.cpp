// SPDX-License-Identifier: Apache-2.0
#include "cli/commands/submission.hpp"

#include "cli/commands/prepare.hpp"
#include "core/base/os/log.hpp"
#include "core/base/text/text.hpp"
#include "core/base/text/units.hpp"
#include "core/run/index/quarantine_file.hpp"

#include <fmt/format.h>

#include <chrono>
#include <future>
#include <string>
#include <vector>

namespace dts::cli {
namespace {

std::vector<plan::ClusterView::Avoided> avoided_nodes(const std::string& cluster) {
  const auto path = run::quarantine_path(cluster);
  if (!path) return {};
  const auto strikes = run::read_strikes(*path);
  if (!strikes) {
    tell("dtsubmit: the quarantine of nodes is not applied: {}\n", strikes.error().message);
    return {};
  }
  std::vector<plan::ClusterView::Avoided> avoided;
  for (const run::Quarantined& node : run::quarantined(*strikes, std::chrono::system_clock::now()))
    avoided.push_back({node.node,
                       fmt::format("in quarantine until {} ({}): see `dtsubmit nodes`",
                                   format_utc(node.until),
                                   node.last.cause)});
  return avoided;
}

}  // namespace

Result<void> check_exit_codes(const sched::ConfigInfo& config) {
  for (const unsigned code : {85U, 93U})
    if (const auto* claim = sched::claimed_by(config, code))
      return fail(Errc::invalid,
                  fmt::format("this site's {} lists exit code {}, which dtsubmit uses itself",
                              claim->setting,
                              code),
                  "ask the administrators to take it off that list");
  return {};
}

void add_site(const sched::ConfigInfo& config, plan::ClusterView& cluster) {
  cluster.avoided = avoided_nodes(config.cluster_name);
  cluster.max_array_size = config.max_array_size;
  cluster.max_step_ranks_per_node = config.max_step_ranks_per_node;
  cluster.one_rank_per_core = config.one_rank_per_core;
  cluster.billing_rule = config.billing_rule;
}

std::optional<Charged> charged_for(const spec::JobSpec& spec) {
  const auto of = [](const spec::JobSpec& job) {
    const auto text = [&](const char* option) {
      const auto found = job.slurm.find(option);
      return found == job.slurm.end() ? std::string() : found->second;
    };
    return Charged{text("account"), text("qos")};
  };
  const Charged all = of(spec);
  for (const spec::Part& part : spec.roles)
    if (of(part.job) != all) return std::nullopt;
  return all;
}

void add_limits(const sched::SiteLimits& limits, plan::ClusterView& cluster) {
  cluster.may_change_jobs = limits.may_change;
  for (plan::ClusterView::Partition& partition : cluster.partitions) {
    if (const auto found = limits.of_partition.find(partition.name);
        found != limits.of_partition.end())
      partition.limits = found->second;
    if (limits.lifts_time) partition.max_time = std::chrono::seconds(0);
    if (limits.lifts_min_nodes) partition.min_nodes = 0;
    if (limits.lifts_max_nodes) partition.max_nodes = 0;
  }
}

Result<Site> look_at_site(sched::Scheduler& scheduler, const std::optional<Charged>& charged) {
  // In parallel: each query is a round trip to the controller.
  auto asked = std::async(std::launch::async, [&scheduler] { return scheduler.config(); });
  auto limits = std::async(std::launch::async, [&scheduler, &charged] {
    return charged ? scheduler.limits(charged->account, charged->qos).value_or(sched::SiteLimits())
                   : sched::SiteLimits();
  });
  auto view = view_of(scheduler);
  DTS_ASSIGN(const sched::ConfigInfo config, asked.get());
  DTS_TRY(check_exit_codes(config));
  DTS_ASSIGN(plan::ClusterView cluster, std::move(view));
  add_site(config, cluster);
  add_limits(limits.get(), cluster);
  return Site{std::move(cluster), config.version, config.signals_reach_programs};
}

}  // namespace dts::cli
