// SPDX-License-Identifier: Apache-2.0
// dtsubmit submit: plan, write the run directory, submit, and perhaps wait.
#include "cli/commands/command.hpp"
#include "cli/commands/follow.hpp"
#include "cli/commands/job_options.hpp"
#include "cli/commands/prepare.hpp"
#include "cli/commands/selection.hpp"
#include "cli/commands/submission.hpp"
#include "cli/output/script_note.hpp"
#include "core/base/files.hpp"
#include "core/base/log.hpp"
#include "core/launch/successor.hpp"
#include "core/plan/json.hpp"
#include "core/plugin/scheduler.hpp"
#include "core/run/ledger.hpp"
#include "core/script/submission.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

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

void print_dry_run(const Prepared& prepared, bool json) {
  if (json) {
    nlohmann::ordered_json document{{"schema", "dtsubmit/dry-run/1"}, {"script", prepared.script}};
    document["plan"] = nlohmann::ordered_json::parse(plan::to_json(prepared.plan));
    fmt::print("{}\n", document.dump(2));
    return;
  }
  const plan::Plan& plan = prepared.plan;
  fmt::print("# plan: {} nodes x {} ranks = {} ranks, {} GPUs a node, {} cores a rank\n",
             plan.nodes,
             plan.ntasks_per_node,
             plan.world_size,
             plan.gpus_per_node,
             plan.cpus_per_task);
  for (const plan::Reason& reason : plan.reasons)
    fmt::print("#   {}: {}\n", reason.what, reason.why);
  fmt::print("{}", prepared.script);
}

void print_note(const Prepared& prepared) {
  if (const std::string note = script_note(prepared.plan.command); !note.empty())
    tell("{}\n", note);
}

// What the plan says of nodes that the job does without, or cannot do without.
std::string exclusion_of(const plan::Plan& plan) {
  std::string lines;
  for (const plan::Reason& reason : plan.reasons)
    for (const std::string_view what : {"exclude = ", "kept = "})
      if (reason.what.rfind(what, 0) == 0 && reason.why != "as asked")
        lines += fmt::format("{}: {}\n", reason.what, reason.why);
  return lines;
}

void print_submitted(const Prepared& prepared, sched::JobId job, bool json) {
  const std::string run = prepared.directory().path;
  if (json) {
    const nlohmann::ordered_json document{{"schema", "dtsubmit/submit/1"},
                                          {"job", job},
                                          {"run_directory", run},
                                          {"world_size", prepared.plan.world_size},
                                          {"exclude", prepared.plan.exclude}};
    fmt::print("{}\n", document.dump(2));
  } else {
    fmt::print(
        "submitted job {}: {} nodes x {} ranks{}\n{}run directory {}\nfollow it: dtsubmit logs -f "
        "{}\n",
        job,
        prepared.plan.nodes,
        prepared.plan.ntasks_per_node,
        prepared.plan.spares > 0 ? fmt::format(", {} spare", prepared.plan.spares) : "",
        exclusion_of(prepared.plan),
        run,
        job);
  }
  std::fflush(stdout);
}

sched::Submission submission_of(const Prepared& prepared) {
  const run::RunDirectory run = prepared.directory();
  return script::make_submission(prepared.spec,
                                 prepared.plan,
                                 {.script = prepared.script,
                                  .script_path = run.script(),
                                  .run_dir = run.path,
                                  .work_folder = absolute_path("."),
                                  .environment = launch::scrubbed_environment()});
}

// The run directory is made durable while the scheduler works on the request: both take
// milliseconds.
Result<sched::JobId> submit(sched::Scheduler& scheduler, const Prepared& prepared) {
  DTS_ASSIGN(const run::RunDirectory run, write_run(prepared));
  auto synced = std::async(std::launch::async, [&run] { return run::sync_run_directory(run); });
  auto job = scheduler.submit(submission_of(prepared));
  auto durable = synced.get();
  if (job && durable) {
    run::Event event;
    event.event = "submitted";
    event.job = *job;
    durable = run::append_event(run.ledger(), std::move(event));
  }
  if (job && durable) return *job;
  // Nothing half-done stays: no job without its directory, no directory without its job.
  if (job) [[maybe_unused]]
    const auto cancelled = scheduler.cancel(*job);
  [[maybe_unused]] const auto removed = remove_all(run.path);
  return tl::unexpected<Error>(job ? std::move(durable).error() : std::move(job).error());
}

Result<int> act(const SubmitOptions& options, const std::vector<std::string>& command) {
  DTS_ASSIGN(spec::JobSpec spec, make_spec(options.job, command));
  if (options.dry_run) {
    DTS_ASSIGN(const Prepared prepared, prepare(std::move(spec), {}, options.job.runs, true));
    print_note(prepared);
    print_dry_run(prepared, options.json);
    return 0;
  }
  DTS_ASSIGN(const auto scheduler, plugin::load_scheduler());
  // At once: each question is a round trip to the controller.
  auto asked = std::async(std::launch::async, [&scheduler] { return scheduler->config(); });
  auto view = view_of(*scheduler);
  DTS_ASSIGN(const sched::ConfigInfo config, asked.get());
  DTS_TRY(check_exit_codes(config));
  DTS_ASSIGN(plan::ClusterView cluster, std::move(view));
  cluster.avoided = avoided_nodes(config.cluster_name);
  DTS_ASSIGN(const Prepared prepared, prepare(std::move(spec), cluster, options.job.runs, true));
  print_note(prepared);
  DTS_ASSIGN(const sched::JobId job, submit(*scheduler, prepared));
  note_in_index(prepared.directory(), job);
  print_submitted(prepared, job, options.json);
  return options.wait ? follow_job(*scheduler, prepared.directory(), job) : Result<int>(0);
}

}  // namespace

void add_submit(CLI::App& app, Invocation& invocation) {
  const auto options = std::make_shared<SubmitOptions>();
  CLI::App* verb =
      app.add_subcommand("submit", "submit a job to Slurm (the default: the word may be left out)");
  verb->footer(
      "Without a program after `--` the bundled trainer runs.\n"
      "Exit codes: 0 ok, 2 usage, 3 invalid job, 4 no scheduler, 5 rejected, 74 disk; with --wait "
      "the job's own.");
  add_job_options(*verb, options->job);
  add_scheduler_options(*verb, options->job);
  verb->add_flag("-W,--wait", options->wait, "wait for the end and exit with the job's code");
  verb->add_flag(
      "--dry-run", options->dry_run, "print plan and script, submit nothing; needs no Slurm");
  verb->add_flag("--json", options->json, "one JSON document on standard output");
  verb->callback([options, &invocation] {
    invocation.action = [options, &invocation] { return act(*options, invocation.command); };
  });
}

}  // namespace dts::cli
