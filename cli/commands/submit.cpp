// SPDX-License-Identifier: Apache-2.0
// dtsubmit submit: plan, write the run directory, submit, and optionally wait.
#include "cli/commands/check_program.hpp"
#include "cli/commands/command.hpp"
#include "cli/commands/dry_run.hpp"
#include "cli/commands/ending.hpp"
#include "cli/commands/follow.hpp"
#include "cli/commands/held_signals.hpp"
#include "cli/commands/job_options.hpp"
#include "cli/commands/prepare.hpp"
#include "cli/commands/selection.hpp"
#include "cli/commands/submission.hpp"
#include "cli/commands/submit_prepared.hpp"
#include "cli/commands/sweep_commands.hpp"
#include "cli/commands/sweep_view.hpp"
#include "cli/commands/wait_for.hpp"
#include "cli/output/script_note.hpp"
#include "core/base/os/log.hpp"
#include "core/base/text/json_text.hpp"
#include "core/base/text/units.hpp"
#include "core/launch/agent/log_links.hpp"
#include "core/launch/job/element.hpp"
#include "core/plan/layout/job_limits.hpp"
#include "core/plugin/scheduler.hpp"
#include "core/spec/parts.hpp"
#include "core/sweep/json.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <csignal>
#include <future>
#include <memory>

namespace dts::cli {
namespace {

struct SubmitOptions {
  JobOptions job;
  bool wait = false;
  bool dry_run = false;
  bool json = false;
};

void print_note(const Prepared& prepared) {
  const auto print = [](const plan::Plan& plan, const spec::JobSpec& spec) {
    if (const std::string note = script_note(plan.command); !note.empty()) tell("{}\n", note);
    if (spec.per_rank) return;
    if (const std::string note = launcher_note(plan); !note.empty()) tell("{}\n", note);
  };
  const auto parts = spec::parts_of(prepared.spec);
  for (std::size_t i = 0; i < prepared.parts.size(); ++i) print(prepared.parts[i], parts[i].job);
  print(prepared.plan, prepared.spec);
}

// A program that handles only the other signal would be killed by SIGTERM before it has saved.
void warn_of_sigterm(const Site& site, const spec::JobSpec& spec) {
  if (!site.signals_reach_programs) return;
  const auto warn_of = [](const std::string& whose) {
    tell(
        "note: at a preemption the program{} gets SIGTERM before that of --stop-signal, as the "
        "scheduler signals every process of a rank here (proctrack/linuxproc): let it ignore "
        "SIGTERM, or save then too\n",
        whose);
  };
  if (!spec::is_composed(spec) && spec.stop_signal != SIGTERM) warn_of("");
  for (const spec::Part& part : spec::parts_of(spec))
    if (part.job.stop_signal != SIGTERM) warn_of(" of " + spec::words_of(spec, part));
}

// The plan's reasons for avoiding nodes, or for not being able to, and for doubts about the start.
std::string remarks_on(const plan::Plan& plan) {
  const std::string_view told[] = {
      "exclude", "kept", plan::k_may_wait, plan::k_waits, plan::k_not_by_srun};
  std::string lines;
  for (const plan::Reason& reason : plan.reasons)
    if (std::ranges::find(told, reason.name) != std::end(told) && !reason.as_asked)
      lines += fmt::format("{}: {}\n", reason.what(), reason.why);
  return lines;
}

void print_submitted(const Prepared& prepared, sched::JobId job, bool json) {
  const std::string run = prepared.directory().path;
  if (json) {
    nlohmann::ordered_json document{{"schema", "dtsubmit/submit/1"},
                                    {"job", job},
                                    {"run_directory", run},
                                    {"world_size", prepared.plan.world_size},
                                    {"exclude", prepared.plan.exclude}};
    if (prepared.sweep) document["elements"] = prepared.sweep->elements.size();
    fmt::print("{}", json_text(document));
  } else {
    fmt::print("submitted {} {}: {}{}{}\n{}run directory {}\nfollow it: dtsubmit {} {}\n",
               prepared.sweep ? "array" : "job",
               job,
               prepared.sweep ? size_of(*prepared.sweep) + "; each " : "",
               size_in_words(prepared),
               prepared.plan.spares > 0 ? fmt::format(", {} spare", prepared.plan.spares) : "",
               remarks_on(prepared.plan),
               run,
               prepared.sweep ? "status" : "logs -f",
               job);
  }
  std::fflush(stdout);
}

// --output and --error. The job has been submitted by then, so failures are only warnings.
void link_log(const Prepared& prepared,
              const run::RunDirectory& run,
              const launch::LoggedJob& job) {
  for (const Diagnostic& problem : launch::link_logs(prepared.spec, run, job))
    tell("dtsubmit: {}: {}\n", problem.where, problem.message);
}

void link_logs(const Prepared& prepared, const sched::JobId& job) {
  const run::RunDirectory run = prepared.directory();
  if (!prepared.sweep) return link_log(prepared, run, {prepared.plan.job_name, job});
  for (const sweep::Element& element : prepared.sweep->elements)
    link_log(prepared,
             launch::element_directory(run, element.index),
             {sweep::element_plan(prepared.plan, *prepared.sweep, element).job_name,
              sweep::job_of_element(job, element.index)});
}

Result<int> act(const SubmitOptions& options, const std::vector<std::string>& command) {
  DTS_ASSIGN(Asked asked, make_spec(options.job, command));
  enter_folder(asked);
  launch::make_absolute(asked.spec);
  check_stage(asked, Reach::nodes);
  auto source = begin_reading_source();
  if (options.dry_run) {
    warn_of_program(asked.spec);
    DTS_ASSIGN(const Prepared prepared,
               prepare(std::move(asked), source.get(), {}, Destination::scheduler));
    print_note(prepared);
    print_dry_run(prepared, options.json);
    return 0;
  }
  check_program(asked, Reach::nodes);
  const auto scheduler = plugin::load_scheduler();
  if (scheduler) wait_for_others(**scheduler, asked);
  auto site = scheduler ? look_at_site(**scheduler, charged_for(asked.spec))
                        : Result<Site>(tl::unexpected<Error>(scheduler.error()));
  if (!site) DTS_TRY(check(asked));  // report the user's own mistakes first
  if (!site) return tl::unexpected<Error>(std::move(site).error());
  DTS_ASSIGN(Prepared prepared,
             prepare(std::move(asked), source.get(), site->cluster, Destination::scheduler));
  prepared.versions[(*scheduler)->access().plugin] = site->version;
  print_note(prepared);
  warn_of_sigterm(*site, prepared.spec);
  sched::JobId job;
  {
    const HeldSignals whole;
    DTS_ASSIGN(job, report_before_signal(submit_prepared(**scheduler, prepared)));
    note_in_index(prepared.directory(), job);
    link_logs(prepared, job);
    print_submitted(prepared, job, options.json);
  }
  if (!options.wait) return 0;
  if (prepared.sweep)
    return follow_sweep(
        prepared.directory(),
        fmt::format(
            "the waiting ends here, and the sweep goes on\nlook at it: dtsubmit status {0}\n"
            "have its elements save and end: dtsubmit stop {0}",
            shell_quote(prepared.directory().path)));
  DTS_ASSIGN(const int code,
             follow_job(**scheduler,
                        prepared.directory(),
                        job,
                        0,
                        fmt::format("the waiting ends here, and the job goes on\n"
                                    "follow it again: dtsubmit logs -f {0}\n"
                                    "have it save and end: dtsubmit stop {0}",
                                    job)));
  if (code != 0) print_ending(prepared.directory(), {prepared.directory().path});
  return code;
}

}  // namespace

void add_submit(CLI::App& app, Invocation& invocation) {
  const auto options = std::make_shared<SubmitOptions>();
  CLI::App* verb =
      app.add_subcommand("submit", "submit a job to Slurm (the default: `submit` can be omitted)");
  verb->footer(
      "--help-all also shows the rare options, including all others of sbatch. A job file uses "
      "the same names: nodes = 2; see dtsubmit-jobfile(5). Without a program, dttrain runs.\n"
      "Exit codes: 0 success, 2 usage, 3 invalid job, 4 no scheduler, 5 rejected by it, 74 file "
      "not written or read; with --wait, the job's own code.");
  options->job.shows_rare = invocation.all_options;
  add_job_file(*verb, options->job);
  add_options(*verb, spec::Group::job, options->job, invocation);
  add_options(*verb, spec::Group::slurm, options->job, invocation);
  verb->add_flag("-W,--wait", options->wait, "wait for the end and exit with the job's code");
  verb->add_flag("--dry-run", options->dry_run, "print the plan and the script; needs no Slurm");
  verb->add_flag("--json", options->json, "one JSON document on standard output");
  verb->callback([options, &invocation] {
    invocation.action = [options, &invocation] { return act(*options, invocation.command); };
  });
}

}  // namespace dts::cli
