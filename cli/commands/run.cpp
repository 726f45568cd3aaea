// SPDX-License-Identifier: Apache-2.0
// dtsubmit run: the same job on this machine through mpirun, or on others through ssh, with the
// same agent and no scheduler.
#include "cli/commands/change_run.hpp"
#include "cli/commands/check_program.hpp"
#include "cli/commands/command.hpp"
#include "cli/commands/job_options.hpp"
#include "cli/commands/prepare.hpp"
#include "cli/commands/selection.hpp"
#include "cli/output/report.hpp"
#include "core/base/files/files.hpp"
#include "core/base/os/environment.hpp"
#include "core/base/os/log.hpp"
#include "core/base/text/hostlist.hpp"
#include "core/launch/agent/agent.hpp"
#include "core/launch/job/successor.hpp"
#include "core/run/directory/file_lock.hpp"
#include "core/run/directory/lease.hpp"
#include "core/run/ledger/history.hpp"
#include "core/run/ledger/ledger.hpp"
#include "core/spec/parts.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <unistd.h>

#include <cstdlib>
#include <memory>

namespace dts::cli {
namespace {

constexpr std::chrono::seconds k_lock_patience{30};

struct RunOptions {
  JobOptions job;
  std::string again;
  std::string shown = "0";
};

// The nodes of the Slurm allocation whose shell this is, if a run on this machine leaves any of
// them idle; otherwise, or outside an allocation, empty.
std::string idle_nodes() {
  const std::string list = getenv_lookup("SLURM_JOB_NODELIST").value_or("");
  const auto nodes = expand_hostlist(list);
  if (list.empty() || !nodes) return "";
  const bool is_only_node =
      nodes->size() == 1 && getenv_lookup("SLURMD_NODENAME") == nodes->front();
  return is_only_node ? "" : list;
}

// Inside a Slurm job, mpirun would otherwise look for that job's nodes.
void scrub_own_environment() {
  const std::string advice = getenv_lookup(plan::k_advice_variable).value_or("");
  for (const std::string& entry : environment_entries()) {
    const std::string name(variable_name(entry));
    if (plan::is_leaky_variable(name) ||
        (plan::is_advice(entry, advice) && !plan::holds_for_nested_run(name)))
      ::unsetenv(name.c_str());
  }
}

Result<void> check_shown(const run::RankSelection& shown, const Prepared& prepared) {
  if (shown.all || shown.ranks.empty() || !prepared.parts.empty()) return {};
  if (const unsigned highest = shown.ranks.back(); highest >= prepared.plan.world_size)
    return fail(Errc::usage,
                fmt::format("--ranks: there is no rank {}", highest),
                fmt::format("the last of them is rank {}", prepared.plan.world_size - 1));
  return {};
}

Result<run::RunDirectory> new_run(const RunOptions& options,
                                  const std::vector<std::string>& command,
                                  const run::RankSelection& shown,
                                  const std::string& idle) {
  DTS_ASSIGN(Asked asked, make_spec(options.job, command));
  enter_folder(asked);
  if (!idle.empty() && asked.spec.hosts.empty())
    warn(
        fmt::format("`run` uses this machine only, not the allocation's nodes {0}: --hosts {0} "
                    "reaches them through ssh, and `dtsubmit submit` uses a job of its own",
                    idle));
  if (asked.spec.launcher == spec::Launcher::srun)
    asked.problems.push_back({"--launcher",
                              "srun starts ranks in an allocation of Slurm only",
                              "use `dtsubmit submit`, or --launcher mpirun on this machine"});
  if (asked.spec.nodes > 1 && asked.spec.hosts.empty())
    asked.problems.push_back(
        {"--nodes",
         fmt::format("`run` uses this machine only, not {} nodes", asked.spec.nodes),
         "omit --nodes, name the machines with --hosts, or `dtsubmit submit`"});
  auto source = begin_reading_source();
  for (const spec::Part& part : spec::parts_of(asked.spec))
    if (part.job.nodes > 1)
      asked.problems.push_back({words_of(asked.spec, part) + ": --nodes",
                                fmt::format("{}, but `run` uses this machine only", part.job.nodes),
                                "omit it, or `dtsubmit submit`"});
  check_program(asked, asked.spec.hosts.empty() ? Reach::here : Reach::elsewhere);
  check_stage(asked, asked.spec.hosts.empty() ? Reach::here : Reach::elsewhere);
  DTS_ASSIGN(const Prepared prepared,
             prepare(std::move(asked), source.get(), {}, Destination::this_machine));
  DTS_TRY(check_shown(shown, prepared));
  DTS_ASSIGN(run::RunDirectory run, write_run(prepared));
  DTS_TRY(run::sync_run_directory(run));
  note_in_index(run, {});
  return run;
}

// All attempts of a run work in one folder, from wherever it is continued: that of --chdir, or with
// --snapshot its copy.
Result<void> enter_folder_of(const run::RunDirectory& run) {
  DTS_ASSIGN(const std::string folder, launch::work_folder(run));
  if (::chdir(folder.c_str()) != 0) return fail_errno("cannot enter the run's folder " + folder);
  return {};
}

Result<run::RunDirectory> earlier_run(const RunOptions& options,
                                      const std::vector<std::string>& command) {
  DTS_TRY(check_no_program(command));
  DTS_ASSIGN(const Asked asked, make_spec(options.job, {}));
  DTS_ASSIGN(run::RunDirectory run,
             find({options.again, asked.spec.runs.empty() ? k_default_runs : asked.spec.runs}));
  if (!changes_run(options.job)) return run;
  DTS_ASSIGN(const run::Ledger ledger, run::load_ledger(run.ledger()));
  if (run::is_done(ledger.events)) return run;  // as the agent then says; nothing changes
  const auto anything = [](const spec::JobSpec&) { return plan::ClusterView(); };
  DTS_ASSIGN(const RunChange change,
             change_run(run, options.job, anything, Destination::this_machine));
  const UniqueFd lock = run::lock_submission(run, k_lock_patience);
  if (run::agent_lives(run).value_or(false))
    return fail(Errc::invalid,
                run.path + " is running on this machine: its options cannot change",
                "press Ctrl-C where it runs, which saves, then repeat this");
  DTS_TRY(run::amend(run, change.files));
  return run;
}

Result<int> act(const RunOptions& options, const std::vector<std::string>& command) {
  DTS_ASSIGN(const run::RankSelection shown, run::parse_ranks(options.shown));
  const std::string idle = idle_nodes();
  scrub_own_environment();
  auto run = options.again.empty() ? new_run(options, command, shown, idle)
                                   : earlier_run(options, command);
  if (!run) return tl::unexpected<Error>(std::move(run).error());
  DTS_TRY(enter_folder_of(*run));
  tell("run directory {}\n", run->path);
  return launch::run_agent({run->path, true, program_path(), shown});
}

}  // namespace

void add_run(CLI::App& app, Invocation& invocation) {
  const auto options = std::make_shared<RunOptions>();
  CLI::App* verb =
      app.add_subcommand("run", "run the same job on this machine or --hosts, without Slurm");
  verb->footer(
      "Every rank's output is in the run directory. Ctrl-C saves and stops (exit code 130). "
      "--help-all also shows the rare options.");
  options->job.shows_rare = invocation.all_options;
  add_job_file(*verb, options->job);
  add_options(*verb, spec::Group::job, options->job, invocation);
  add_options(*verb, spec::Group::hosts, options->job, invocation);
  verb->add_option("--continue", options->again, "continue a run: its folder, its name, or `last`")
      ->type_name("RUN");
  verb->add_option("--ranks", options->shown, "ranks whose output is shown: all, 0, 0,4-7 [0]")
      ->type_name("RANKS");
  verb->callback([options, &invocation] {
    invocation.action = [options, &invocation] { return act(*options, invocation.command); };
  });
}

}  // namespace dts::cli
