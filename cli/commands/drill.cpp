// SPDX-License-Identifier: Apache-2.0
// dtsubmit drill: injects a fault and reports the outcome.
#include "core/drill/drill.hpp"

#include "cli/commands/command.hpp"
#include "cli/commands/job_options.hpp"
#include "cli/commands/selection.hpp"
#include "cli/output/drill.hpp"
#include "core/base/os/interruption.hpp"
#include "core/base/os/log.hpp"
#include "core/base/text/duration.hpp"
#include "core/base/text/units.hpp"
#include "core/drill/watch.hpp"
#include "core/plugin/scheduler.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <memory>

namespace dts::cli {
namespace {

struct DrillOptions {
  std::string fault;
  Selection selection;
  std::optional<unsigned> rank;
  std::string limit = "10";
  std::chrono::seconds limit_time{0};
  bool yes = false;
  bool json = false;
};

Result<std::vector<drill::Fault>> faults_of(const std::string& word) {
  std::vector<drill::Fault> all;
  std::string names;
  for (const drill::FaultFacts& facts : drill::all_faults()) {
    all.push_back(facts.fault);
    names += fmt::format("{}, ", facts.name);
  }
  if (word == "all") return all;
  if (const auto fault = drill::fault_from(word)) return std::vector{*fault};
  return fail(Errc::usage,
              fmt::format("`{}` is not a fault that a drill can cause", word),
              names + "or all");
}

// A fault in a real job requires an option that cannot be typed by accident.
Result<void> check_consent(const DrillOptions& options,
                           drill::Fault fault,
                           const drill::Target& target) {
  if (options.yes) return {};
  const std::string who = !target.job.empty() ? fmt::format("job {}", target.job) : target.run.path;
  return fail(Errc::usage,
              fmt::format("{} is a real run; the drill {}: {}",
                          who,
                          drill::facts_of(fault).name,
                          drill::facts_of(fault).of_a_job),
              "add --yes to do it; without a run, the drill uses a private cluster");
}

Result<int> drill_site(const DrillOptions& options, const std::vector<drill::Fault>& faults) {
  if (faults.size() != 1)
    return fail(
        Errc::usage, "a real run can be drilled with one fault at a time only", "name the fault");
  DTS_ASSIGN(const run::RunDirectory run, find(options.selection));
  std::unique_ptr<sched::Scheduler> scheduler;
  if (job_of(run)) {
    DTS_ASSIGN(scheduler, plugin::load_scheduler());
  }
  DTS_ASSIGN(const drill::Target target, drill::find_target(run, scheduler.get(), options.rank));
  DTS_TRY(check_consent(options, faults.front(), target));
  DTS_ASSIGN(const drill::Report report,
             drill::drill_run(faults.front(), target, options.limit_time));
  fmt::print("{}", options.json ? to_json({report}) : to_text(report));
  return report.problems.empty() ? 0 : 1;
}

Result<int> drill_private_cluster(const DrillOptions& options,
                                  const std::vector<drill::Fault>& faults) {
  tell("starting a private cluster\n");
  DTS_ASSIGN(const auto ground, drill::Ground::prepare(trainer_path()));
  std::vector<drill::Report> reports;
  bool failed = false;
  for (const drill::Fault fault : faults) {
    const drill::FaultFacts& facts = drill::facts_of(fault);
    tell("{}: {}\n", facts.name, facts.on_ground != nullptr ? facts.on_ground : facts.of_a_job);
    DTS_ASSIGN(drill::Report report, drill::drill_on(*ground, fault, options.limit_time));
    tell("{}: {}\n", facts.name, outcome_word(report));
    failed = failed || !report.problems.empty();
    reports.push_back(std::move(report));
  }
  if (options.json)
    fmt::print("{}", to_json(reports));
  else
    fmt::print("{}", reports.size() == 1 ? to_text(reports.front()) : to_table(reports));
  return failed ? 1 : 0;
}

Result<int> act(DrillOptions options) {
  auto limit = parse_time_limit(options.limit);
  if (!limit) return tl::unexpected<Error>(std::move(limit).error().during("--limit"));
  // A year is practically unlimited, and sums of it do not overflow.
  options.limit_time = std::min(*limit, std::chrono::seconds(std::chrono::hours(24 * 365)));
  DTS_ASSIGN(const auto faults, faults_of(options.fault));
  remember_signals();
  return options.selection.what.empty() ? drill_private_cluster(options, faults)
                                        : drill_site(options, faults);
}

}  // namespace

void add_drill(CLI::App& app, Invocation& invocation) {
  const auto options = std::make_shared<DrillOptions>();
  options->selection.what.clear();  // a drill must not pick the latest run by default
  CLI::App* verb =
      app.add_subcommand("drill", "cause a fault on purpose, and check that the run comes back");
  verb->footer(
      "Faults: preempt, timeout, rank-kill, agent-kill, hang, slow, disk-full, node-loss, all. "
      "Without a job, the fault is caused in a training on a private Slurm, whose result is "
      "checked.");
  verb->add_option("fault", options->fault, "the fault to cause, or `all`")
      ->type_name("FAULT")
      ->required();
  verb->add_option("--rank", options->rank, "the rank whose program is the victim [0]")
      ->type_name("R");
  verb->add_option("--limit", options->limit, "the run must be back within this time [10m]")
      ->type_name("TIME");
  verb->add_flag("--yes", options->yes, "cause the fault in a real job");
  verb->add_flag("--json", options->json, "one JSON document, schema dtsubmit/drill/1");
  add_selection(*verb, options->selection, Naming::optional);
  verb->callback(
      [options, &invocation] { invocation.action = [options] { return act(*options); }; });
}

}  // namespace dts::cli
