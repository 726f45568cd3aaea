// SPDX-License-Identifier: Apache-2.0
#include "cli/commands/prepare.hpp"

#include "cli/commands/job_options.hpp"
#include "core/base/files/files.hpp"
#include "core/base/net/net.hpp"
#include "core/base/text/hostlist.hpp"
#include "core/base/text/json_bytes.hpp"
#include "core/base/text/units.hpp"
#include "core/plan/layout/json.hpp"
#include "core/run/event/event_line.hpp"
#include "core/spec/json.hpp"
#include "core/spec/validate.hpp"

#include "version.hpp"
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <unistd.h>

#include <chrono>
#include <future>

namespace dts::cli {
namespace {

std::string provenance(const Prepared& prepared) {
  const nlohmann::ordered_json record{{"schema", "dtsubmit/provenance/1"},
                                      {"version", k_version},
                                      {"created", format_utc(std::chrono::system_clock::now())},
                                      {"host", host_name()},
                                      {"user", ::getuid()},
                                      {"folder", absolute_path(".")},
                                      {"dtsubmit", program_path()},
                                      {"command", bytes_to_json(prepared.plan.command)}};
  return record.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

Result<plan::Plan> plan_of(const Asked& asked, const plan::ClusterView& cluster) {
  Diagnostics problems = asked.problems;
  auto plan = plan::make_plan(asked.spec, cluster, trainer_path());
  if (!plan) problems.insert(problems.end(), plan.error().begin(), plan.error().end());
  if (!problems.empty()) return tl::unexpected<Error>(to_error(problems));
  return *std::move(plan);
}

}  // namespace

Result<void> check(const Asked& asked) {
  return plan_of(asked, {}).map([](const plan::Plan&) {});
}

Result<Prepared> prepare(Asked asked,
                         const plan::ClusterView& cluster,
                         const std::string& runs,
                         Destination destination) {
  Prepared prepared;
  DTS_ASSIGN(prepared.plan, plan_of(asked, cluster));
  prepared.spec = std::move(asked.spec);
  if (prepared.spec.command.empty() && !exists(trainer_path()))
    return fail(Errc::not_found,
                "the bundled trainer is not at " + trainer_path(),
                "build it, or name a program after `--`");
  prepared.run_name =
      run::run_name(spec::folder_name(prepared.plan.job_name), std::chrono::system_clock::now());
  prepared.runs = absolute_path(runs.empty() ? "runs" : runs);
  if (destination == Destination::scheduler) {
    prepared.context.run_dir = prepared.directory().path;
    prepared.context.dtsubmit = program_path();
    prepared.context.version = k_version;
    DTS_ASSIGN(prepared.script,
               script::render_sbatch(prepared.spec, prepared.plan, prepared.context));
  }
  return prepared;
}

Result<run::RunDirectory> write_run(const Prepared& prepared) {
  run::Files files;
  files.spec = spec::to_json(prepared.spec);
  files.plan = plan::to_json(prepared.plan);
  files.script = prepared.script;
  files.provenance = provenance(prepared);
  const std::string now = format_utc(std::chrono::system_clock::now());
  files.ledger = run::to_line({.time = now, .what = run::Created{}}) + "\n";
  return run::create_run_directory(prepared.runs, prepared.run_name, files);
}

Result<plan::ClusterView> view_of(sched::Scheduler& scheduler) {
  plan::ClusterView view;
  // Both questions at once: each is a round trip to the controller.
  auto asked = std::async(std::launch::async, [&scheduler] { return scheduler.partitions(); });
  auto seen_nodes = scheduler.nodes();
  auto seen_partitions = asked.get();
  DTS_ASSIGN(const auto nodes, std::move(seen_nodes));
  DTS_ASSIGN(const auto partitions, std::move(seen_partitions));
  for (const sched::NodeInfo& node : nodes)
    view.nodes.push_back({node.name, node.cpus, node.gpus, node.memory_mib, !node.away});
  for (const sched::PartitionInfo& partition : partitions) {
    plan::ClusterView::Partition seen;
    seen.name = partition.name;
    seen.is_default = partition.is_default;
    if (!partition.nodes.empty()) {
      DTS_ASSIGN(seen.nodes, expand_hostlist(partition.nodes));
    }
    seen.max_time = partition.max_time_seconds < 0
                        ? std::chrono::seconds::max()
                        : std::chrono::seconds(partition.max_time_seconds);
    view.partitions.push_back(std::move(seen));
  }
  return view;
}

}  // namespace dts::cli
