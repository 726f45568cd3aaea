// SPDX-License-Identifier: Apache-2.0
#include "cli/commands/prepare.hpp"

#include "cli/commands/job_options.hpp"
#include "cli/commands/templates.hpp"
#include "core/base/files/files.hpp"
#include "core/base/os/log.hpp"
#include "core/base/text/hostlist.hpp"
#include "core/base/text/units.hpp"
#include "core/launch/job/successor.hpp"
#include "core/plan/composition.hpp"
#include "core/plan/layout/job_limits.hpp"
#include "core/plan/layout/json.hpp"
#include "core/run/directory/parts.hpp"
#include "core/run/event/event_line.hpp"
#include "core/script/submission.hpp"
#include "core/spec/file/locate.hpp"
#include "core/spec/json.hpp"
#include "core/spec/parts.hpp"
#include "core/spec/validate.hpp"
#include "core/sweep/axis.hpp"
#include "core/sweep/element.hpp"
#include "core/sweep/json.hpp"

#include "version.hpp"
#include <fmt/format.h>

#include <chrono>
#include <future>

namespace dts::cli {
namespace {

// A run without parts has only its own plan.
Result<plan::Composition> plan_of(const Asked& asked,
                                  const plan::ClusterView& cluster,
                                  Destination destination) {
  Diagnostics problems = asked.problems;
  auto made = spec::is_composed(asked.spec)
                  ? plan::make_composition(asked.spec, cluster, trainer_path())
                  : plan::make_plan(asked.spec, cluster, trainer_path()).map([](plan::Plan plan) {
                      return plan::Composition{std::move(plan), {}};
                    });
  if (!made) problems.insert(problems.end(), made.error().begin(), made.error().end());
  if (!problems.empty()) {
    spec::locate(asked.settings, problems);
    return tl::unexpected<Error>(to_error(problems));
  }
  if (destination == Destination::this_machine && !asked.spec.roles.empty())
    plan::put_on_one_machine(*made);
  return *std::move(made);
}

run::Files files_of(const Prepared& prepared, const spec::JobSpec& spec, const plan::Plan& plan) {
  run::Files files;
  files.spec = spec::to_json(spec);
  files.plan = plan::to_json(plan);
  files.provenance =
      provenance_record({prepared.work_folder(), plan.command, prepared.versions}, prepared.source);
  const std::string now = format_utc(std::chrono::system_clock::now());
  files.ledger = run::to_line({.time = now, .what = run::Created{}}) + "\n";
  return files;
}

// The elements of an array or a sweep; adds problems if there are any.
std::optional<sweep::Sweep> sweep_of(Asked& asked, const plan::ClusterView& cluster) {
  spec::JobSpec& spec = asked.spec;
  const auto array = spec.slurm.find("array");
  if (spec.sweep.empty() && spec.sweep_mode.empty() && array == spec.slurm.end())
    return std::nullopt;
  if (spec::is_composed(spec))
    asked.problems.push_back({spec.sweep.empty() ? "--array" : "--sweep",
                              "a job of several steps or roles cannot be an array",
                              "submit the sweep for one program"});
  auto made = sweep::make_sweep(
      {spec.sweep,
       spec.sweep_mode,
       array == spec.slurm.end() ? "" : array->second,
       [](const std::string& path) { return read_file(path, sweep::k_largest_csv); }});
  if (!made) {
    asked.problems.insert(asked.problems.end(), made.error().begin(), made.error().end());
    return std::nullopt;
  }
  sweep::check_texts(spec, *made, asked.problems);
  if (auto problem = sweep::check_size(*made, cluster.max_array_size))
    asked.problems.push_back(*std::move(problem));
  plan::check_elements(made->elements.size(), spec, cluster, asked.problems);
  spec.slurm["array"] = made->array();
  return *std::move(made);
}

// A sweep whose program does not get its values trains the same again and again.
void print_unmentioned(const spec::JobSpec& spec, const sweep::Sweep& sweep) {
  for (const std::string& name : sweep::unmentioned_parameters(spec, sweep))
    tell("note: no argument of the program has {{{0}}}, so it finds the value of {0} only in {1}\n",
         name,
         sweep::variable_of(name));
}

Result<void> add_script(Prepared& prepared) {
  prepared.context.run_dir = prepared.directory().path;
  prepared.context.dtsubmit = program_path();
  prepared.context.version = k_version;
  prepared.context.parts = prepared.parts;
  if (const std::string& named = prepared.spec.script_template; !named.empty())
    prepared.context.template_name = named;
  prepared.context.templates = templates_on_disk(
      is_template_file(prepared.spec.script_template) ? prepared.spec.script_template : "");
  DTS_ASSIGN(prepared.script,
             script::render_sbatch(prepared.spec, prepared.plan, prepared.context));
  return {};
}

}  // namespace

Result<void> check(const Asked& asked) {
  Asked copy = asked;
  [[maybe_unused]] const auto sweep = sweep_of(copy, {});
  return plan_of(copy, {}, Destination::scheduler).map([](const plan::Composition&) {});
}

Result<Prepared> prepare(Asked asked,
                         Source source,
                         const plan::ClusterView& cluster,
                         Destination destination) {
  Prepared prepared;
  prepared.source = std::move(source);
  check_snapshot(asked, prepared.source);
  for (const std::string& note : asked.notes) tell("{}\n", note);
  if (launch::folder_here().empty())
    asked.problems.push_back(
        {"the current folder",
         "it was removed after this shell entered it, so no program can run in it",
         "enter another one, or this one again if it was made again: cd \"$PWD\""});
  prepared.sweep = sweep_of(asked, cluster);
  if (prepared.sweep) print_unmentioned(asked.spec, *prepared.sweep);
  DTS_ASSIGN(plan::Composition made, plan_of(asked, cluster, destination));
  prepared.plan = std::move(made.job);
  prepared.parts = std::move(made.parts);
  prepared.spec = std::move(asked.spec);
  const bool uses_trainer = prepared.spec.command.empty() && prepared.parts.empty();
  if (uses_trainer && !exists(trainer_path()))
    return fail(Errc::not_found,
                "the bundled trainer is not at " + trainer_path(),
                "build it, or name a program after `--`");
  prepared.run_name =
      run::run_name(spec::folder_name(prepared.plan.job_name), std::chrono::system_clock::now());
  prepared.runs = absolute_path(prepared.spec.runs.empty() ? "runs" : prepared.spec.runs);
  if (destination == Destination::scheduler) DTS_TRY(add_script(prepared));
  return prepared;
}

Result<Prepared> prepare_change(Asked asked,
                                const run::RunDirectory& run,
                                const plan::ClusterView& cluster,
                                Destination destination) {
  Prepared prepared;
  DTS_ASSIGN(plan::Composition made, plan_of(asked, cluster, destination));
  prepared.plan = std::move(made.job);
  prepared.parts = std::move(made.parts);
  prepared.spec = std::move(asked.spec);
  const std::size_t slash = run.path.rfind('/');
  prepared.runs = run.path.substr(0, slash);
  prepared.run_name = run.path.substr(slash + 1);
  if (destination == Destination::scheduler) DTS_TRY(add_script(prepared));
  return prepared;
}

sched::Submission submission_of(const Prepared& prepared) {
  const run::RunDirectory run = prepared.directory();
  return script::make_submission(prepared.spec,
                                 prepared.plan,
                                 {.script = prepared.script,
                                  .script_path = run.script(),
                                  .run_dir = run.path,
                                  .work_folder = prepared.work_folder(),
                                  .environment = launch::scrubbed_environment(),
                                  .parts = prepared.parts});
}

std::string part_folder_of(const spec::JobSpec& spec, std::size_t index) {
  return run::part_folder(
      !spec.roles.empty(), static_cast<unsigned>(index + 1), spec::parts_of(spec)[index].name);
}

Result<run::RunDirectory> write_run(const Prepared& prepared) {
  run::Files files = files_of(prepared, prepared.spec, prepared.plan);
  files.script = prepared.script;
  if (prepared.source.tree) files.diff = prepared.source.tree->diff;
  if (prepared.spec.snapshot)
    files.more = [&prepared](const run::RunDirectory& staging) {
      return take_snapshot(prepared.source, staging);
    };
  if (prepared.sweep) files.sweep = sweep::to_json(*prepared.sweep);
  const auto& parts = spec::parts_of(prepared.spec);
  for (std::size_t i = 0; i < prepared.parts.size(); ++i) {
    files.parts.push_back(files_of(prepared, parts[i].job, prepared.parts[i]));
    files.parts.back().folder = part_folder_of(prepared.spec, i);
  }
  return run::create_run_directory(prepared.runs, prepared.run_name, files);
}

Result<plan::ClusterView> view_of(sched::Scheduler& scheduler) {
  // Query both in parallel: each is a round trip to the controller.
  auto asked = std::async(std::launch::async, [&scheduler] { return scheduler.partitions(); });
  auto seen_nodes = scheduler.nodes();
  auto seen_partitions = asked.get();
  DTS_ASSIGN(const auto nodes, std::move(seen_nodes));
  DTS_ASSIGN(const auto partitions, std::move(seen_partitions));
  return view_of(nodes, partitions);
}

Result<plan::ClusterView> view_of(const std::vector<sched::NodeInfo>& nodes,
                                  const std::vector<sched::PartitionInfo>& partitions) {
  plan::ClusterView view;
  for (const sched::NodeInfo& node : nodes)
    view.nodes.push_back({node.name,
                          node.cpus,
                          node.gpus,
                          node.memory_mib,
                          !node.away,
                          node.gpu_types,
                          node.reserved_cpus,
                          node.cpus_per_core});
  for (const sched::PartitionInfo& partition : partitions) {
    plan::ClusterView::Partition seen;
    seen.name = partition.name;
    seen.is_default = partition.is_default;
    seen.up = partition.up;
    if (!partition.nodes.empty()) {
      DTS_ASSIGN(seen.nodes, expand_hostlist(partition.nodes));
    }
    seen.max_time = partition.max_time_seconds < 0
                        ? std::chrono::seconds::max()
                        : std::chrono::seconds(partition.max_time_seconds);
    seen.default_time = std::chrono::seconds(partition.default_time_seconds);
    seen.min_nodes = partition.min_nodes;
    seen.max_nodes = partition.max_nodes;
    seen.max_cpus_per_node = partition.max_cpus_per_node;
    seen.max_memory_mib = partition.max_memory_mib;
    seen.memory = partition.memory;
    seen.billing = partition.billing;
    // A job that gets whole nodes has use for all of their CPUs.
    seen.cpus_per_gpu = partition.gives_whole_nodes ? 0 : partition.cpus_per_gpu;
    view.partitions.push_back(std::move(seen));
  }
  return view;
}

}  // namespace dts::cli
