// SPDX-License-Identifier: Apache-2.0
// dtsubmit status: the attempts of a run, what ended each, and what was lost.
#include "cli/commands/command.hpp"
#include "cli/commands/selection.hpp"
#include "core/base/files.hpp"
#include "core/plugin/scheduler.hpp"
#include "core/run/ledger.hpp"
#include "core/run/summary.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <memory>

namespace dts::cli {
namespace {

struct StatusOptions {
  Selection selection;
  bool json = false;
};

// What the scheduler says now; empty where there is none or it knows the job no more.
std::string scheduler_state(sched::JobId job) {
  if (job == 0) return {};
  const auto scheduler = plugin::load_scheduler();
  if (!scheduler) return {};
  const auto info = (*scheduler)->job(job);
  if (!info) return {};
  const bool says_why = !info->reason.empty() && info->reason != "None";
  return std::string(sched::to_string(info->state)) + (says_why ? " (" + info->reason + ")" : "");
}

nlohmann::ordered_json to_json(const run::AttemptSummary& attempt) {
  return {{"attempt", attempt.number},
          {"job", attempt.job},
          {"nodes", attempt.nodes},
          {"started", attempt.started},
          {"ended", attempt.ended},
          {"cause", attempt.cause},
          {"decision", attempt.decision},
          {"exit_code", attempt.exit_code},
          {"detail", attempt.detail},
          {"first_step", attempt.first_step},
          {"last_step", attempt.last_step},
          {"steps_lost", attempt.steps_lost}};
}

void print_json(const run::RunDirectory& run,
                const run::RunSummary& summary,
                const std::string& state) {
  nlohmann::ordered_json document{{"schema", "dtsubmit/status/1"},
                                  {"run_directory", run.path},
                                  {"job", summary.job},
                                  {"scheduler_state", state},
                                  {"done", summary.done},
                                  {"steps_lost", summary.steps_lost},
                                  {"accuracy", nullptr},
                                  {"digest", summary.digest}};
  if (summary.accuracy >= 0) document["accuracy"] = summary.accuracy;
  document["attempts"] = nlohmann::ordered_json::array();
  for (const run::AttemptSummary& attempt : summary.attempts)
    document["attempts"].push_back(to_json(attempt));
  fmt::print("{}\n", document.dump(2));
}

void print_table(const run::RunDirectory& run,
                 const run::RunSummary& summary,
                 const std::string& state) {
  fmt::print("run     {}\n", run.path);
  if (summary.job != 0)
    fmt::print("job     {}{}\n", summary.job, state.empty() ? "" : ", " + state);
  if (!summary.attempts.empty())
    fmt::print("\n{:>7}  {:<14} {:<9} {:>11}  {:>4}  {}\n",
               "ATTEMPT",
               "ENDED BY",
               "THEN",
               "STEPS",
               "LOST",
               "NODES");
  for (const run::AttemptSummary& attempt : summary.attempts) {
    const bool counted = attempt.last_step >= 0;
    const std::string steps =
        counted
            ? fmt::format("{}-{}", std::max<std::int64_t>(0, attempt.first_step), attempt.last_step)
            : "-";
    fmt::print("{:>7}  {:<14} {:<9} {:>11}  {:>4}  {}\n",
               attempt.number,
               attempt.cause.empty() ? "running" : attempt.cause,
               attempt.decision.empty() ? "-" : attempt.decision,
               steps,
               counted ? std::to_string(attempt.steps_lost) : "-",
               fmt::join(attempt.nodes, ","));
    if (!attempt.detail.empty() && attempt.cause != "completed")
      fmt::print("         {}\n", attempt.detail);
  }
  fmt::print("\nsteps lost  {}\n", summary.steps_lost);
  if (summary.accuracy >= 0) fmt::print("accuracy    {:.2f} %\n", summary.accuracy * 100);
  if (!summary.digest.empty()) fmt::print("digest      {}\n", summary.digest);
}

Result<int> act(const StatusOptions& options) {
  DTS_ASSIGN(const run::RunDirectory run, find(options.selection));
  DTS_ASSIGN(const auto events, run::read_ledger(run.ledger()));
  const auto metrics = read_file(run.metrics());
  const run::RunSummary summary = run::summarise(events, metrics ? *metrics : "");
  const std::string state = scheduler_state(summary.job);
  options.json ? print_json(run, summary, state) : print_table(run, summary, state);
  return 0;
}

}  // namespace

void add_status(CLI::App& app, Invocation& invocation) {
  const auto options = std::make_shared<StatusOptions>();
  CLI::App* verb =
      app.add_subcommand("status", "the attempts of a run, what ended each, what was lost");
  add_selection(*verb, options->selection, false);
  verb->add_flag("--json", options->json, "one JSON document, schema dtsubmit/status/1");
  verb->callback(
      [options, &invocation] { invocation.action = [options] { return act(*options); }; });
}

}  // namespace dts::cli
