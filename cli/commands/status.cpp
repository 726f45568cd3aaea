// SPDX-License-Identifier: Apache-2.0
// dtsubmit status: the attempts of a run, why each ended, and how much was lost.
#include "cli/commands/command.hpp"
#include "cli/commands/known_job.hpp"
#include "cli/commands/selection.hpp"
#include "cli/commands/sweep_commands.hpp"
#include "cli/output/cause_words.hpp"
#include "cli/output/end_words.hpp"
#include "cli/output/parts.hpp"
#include "cli/output/report.hpp"
#include "cli/output/why.hpp"
#include "core/base/files/files.hpp"
#include "core/base/text/json_text.hpp"
#include "core/base/text/text.hpp"
#include "core/launch/job/element.hpp"
#include "core/launch/job/own_job.hpp"
#include "core/plugin/scheduler.hpp"
#include "core/run/directory/lease.hpp"
#include "core/run/ledger/history.hpp"
#include "core/run/ledger/ledger.hpp"
#include "core/run/ledger/newest_job.hpp"
#include "core/run/summary/goodput.hpp"
#include "core/run/summary/summary.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <chrono>
#include <memory>
#include <optional>

namespace dts::cli {
namespace {

struct StatusOptions {
  Selection selection;
  std::string metric;  // for a sweep
  bool json = false;
};

// The information shown about a run.
struct Status {
  run::RunDirectory run;
  RunFacts known;
  run::Goodput goodput;
  std::string state;                   // according to the scheduler
  const char* unfinished = "running";  // how an attempt without an end is described
  std::vector<PartRow> parts;          // for a composed run
  std::string other;  // a note if the scheduler's record disagrees with the run's own
};

Result<sched::JobInfo> scheduler_job(const run::RunDirectory& run, RunFacts& known) {
  if (known.summary.job.empty()) return fail(Errc::not_found, "the run has no job");
  DTS_ASSIGN(const auto scheduler, plugin::load_scheduler());
  known.phrases = scheduler->phrases();
  const auto job = launch::job_of_run(*scheduler, run, known.summary.job);
  if (job) known.job = *job;
  known.forgotten = !job && job.error().code == Errc::not_found;
  if (known.forgotten && run::final_decision(known.events) == nullptr)
    if (auto elsewhere = on_another_cluster(run, known.summary.job)) {
      known.forgotten = false;
      return tl::unexpected<Error>(*std::move(elsewhere));
    }
  return job;
}

// If the run has no recorded end, the table may show what is no longer true.
void warn_if_in_doubt(const RunFacts& known, const Result<sched::JobInfo>& job) {
  if (run::final_decision(known.events) != nullptr) return;
  const sched::JobId id = run::newest_job(known.events);
  if (!id.empty() && !job)
    warn(fmt::format("the state of job {} is not known: {}", id, job.error().message));
  const auto unfinished = run::unfinished_attempt(known.events);
  if (id.empty() && unfinished && known.agent_lives == false)
    warn(fmt::format("the agent of attempt {} is gone and recorded no end", *unfinished));
}

std::string in_words(const sched::JobInfo& info) {
  return std::string(sched::to_string(info.state)) +
         (info.reason.empty() ? "" : " (" + info.reason + ")") +
         (info.accounted ? ", according to the accounting" : "");
}

run::TimeUse use_of(const Status& status, unsigned attempt) {
  const auto found = status.goodput.attempts.find(attempt);
  return found == status.goodput.attempts.end() ? run::TimeUse{} : found->second;
}

// -1 in JSON if there is no value.
template <class Number>
std::int64_t number_or_none(const std::optional<Number>& number) {
  return number ? static_cast<std::int64_t>(*number) : -1;
}

nlohmann::ordered_json to_json(const std::vector<run::SlowRank>& slow) {
  auto list = nlohmann::ordered_json::array();
  for (const run::SlowRank& one : slow)
    list.push_back({{"rank", number_or_none(one.rank)},
                    {"node", one.node},
                    {"phase", one.phase.name()},
                    {"detail", one.detail}});
  return list;
}

nlohmann::ordered_json to_json(const run::Advised& advice) {
  auto seconds = nlohmann::ordered_json::object();
  if (advice.every) seconds["every"] = advice.every->count();
  if (advice.failure) seconds["failure"] = advice.failure->count();
  if (advice.save) seconds["save"] = advice.save->count();
  return seconds;
}

nlohmann::ordered_json to_json(const run::AttemptSummary& attempt, const run::TimeUse& use) {
  return {{"attempt", attempt.number},
          {"job", attempt.job},
          {"nodes", attempt.nodes},
          {"started", attempt.started},
          {"ended", attempt.ended},
          {"cause", attempt.cause.name()},
          {"decision", attempt.decision.name()},
          {"exit_code", number_or_none(attempt.exit_code)},
          {"detail", attempt.detail},
          {"first_step", attempt.first_step},
          {"last_step", attempt.last_step},
          {"steps_lost", attempt.steps_lost},
          {"began_anew", attempt.anew},
          {"staging", attempt.staging},
          {"quiet", attempt.quiet},
          {"stragglers", to_json(attempt.slow)},
          {"binding", attempt.binding},
          {"warnings", attempt.warnings},
          {"seconds", run::in_seconds(use)}};
}

void print_json(const Status& status) {
  const run::RunSummary& summary = status.known.summary;
  nlohmann::ordered_json document{{"schema", "dtsubmit/status/1"},
                                  {"run_directory", status.run.path},
                                  {"job", summary.job},
                                  {"state", to_string(explain(status.known).standing)},
                                  {"scheduler_state", status.state},
                                  {"warning", status.other},
                                  {"done", summary.done},
                                  {"steps_lost", summary.steps_lost},
                                  {"seconds", run::in_seconds(status.goodput.run)},
                                  {"advice", to_json(summary.advice)},
                                  {"accuracy", nullptr},
                                  {"digest", summary.digest}};
  if (summary.accuracy >= 0) document["accuracy"] = summary.accuracy;
  document["attempts"] = nlohmann::ordered_json::array();
  for (const run::AttemptSummary& attempt : summary.attempts)
    document["attempts"].push_back(to_json(attempt, use_of(status, attempt.number)));
  if (!status.parts.empty()) document["parts"] = parts_to_json(status.parts);
  fmt::print("{}", json_text(document));
}

// The state of the job. The scheduler calls a stopped job failed, because it exits 85 after saving.
std::string job_words(const Status& status) {
  const std::vector<run::AttemptSummary>& attempts = status.known.summary.attempts;
  const bool stopped = !attempts.empty() && is_stop_asked_for(attempts.back()) &&
                       attempts.back().decision == run::Action::stop;
  const bool failed = status.known.job && status.known.job->state == sched::JobState::failed;
  if (!stopped || !failed) return status.state;
  return fmt::format(
      "stopped as requested by `dtsubmit stop` ({}: {})", status.known.phrases.name, status.state);
}

// "93 %"
std::string percent(const run::TimeUse& use) {
  return use.goodput() < 0 ? "-" : fmt::format("{:.0f} %", 100 * use.goodput());
}

void print_heading(const Status& status) {
  const std::string state = job_words(status);
  fmt::print("run     {}\n", status.run.path);
  if (!status.known.summary.job.empty())
    fmt::print("job     {}{}\n", status.known.summary.job, state.empty() ? "" : ", " + state);
  else if (exists(status.run.script()))
    fmt::print("job     none is known; `dtsubmit requeue {}` submits it\n",
               shell_quote(status.run.path));
  const auto& job = status.known.job;
  if (job && sched::waits(*job) && !job->explanation.empty())
    fmt::print("why     {}\n", job->explanation);
  if (!status.other.empty()) fmt::print("warning {}\n", status.other);
  if (!status.known.summary.attempts.empty())
    fmt::print("\n{:>7}  {:<14} {:<9} {:>11}  {:>4}  {:>7}  {}\n",
               "ATTEMPT",
               "ENDED BY",
               "THEN",
               "STEPS",
               "LOST",
               "GOODPUT",
               "NODES");
}

// Additional notes on an attempt, one per line.
std::vector<std::string> notes_on(const run::AttemptSummary& attempt) {
  std::vector<std::string> notes;
  if (!attempt.detail.empty() && attempt.cause != run::Cause::completed)
    notes.push_back(attempt.detail);
  if (attempt.anew)
    notes.push_back(
        fmt::format("started over at step 0, although there was {}: no checkpoint was used",
                    attempt.resumable));
  if (!attempt.staging.empty()) notes.push_back(attempt.staging);
  if (!attempt.quiet.empty()) notes.push_back(attempt.quiet);
  for (const run::SlowRank& slow : attempt.slow) notes.push_back(slow.detail);
  notes.insert(notes.end(), attempt.binding.begin(), attempt.binding.end());
  for (const std::string& words : attempt.warnings) notes.push_back("warning: " + words);
  return notes;
}

void print_attempt(const Status& status, const run::AttemptSummary& attempt) {
  const std::string steps =
      attempt.last_step >= 0
          ? fmt::format("{}-{}", std::max<std::int64_t>(0, attempt.first_step), attempt.last_step)
          : "-";
  fmt::print("{:>7}  {:<14} {:<9} {:>11}  {:>4}  {:>7}  {}\n",
             attempt.number,
             attempt.cause.empty() ? status.unfinished : attempt.cause.name(),
             attempt.decision.empty() ? "-" : attempt.decision.name(),
             steps,
             attempt.steps_lost >= 0 ? std::to_string(attempt.steps_lost) : "-",
             percent(use_of(status, attempt.number)),
             fmt::join(attempt.nodes, ","));
  for (const std::string& note : notes_on(attempt)) fmt::print("         {}\n", note);
}

void print_table(const Status& status) {
  const run::RunSummary& summary = status.known.summary;
  print_heading(status);
  for (const run::AttemptSummary& attempt : summary.attempts) print_attempt(status, attempt);
  if (const std::string parts = parts_table(status.parts); !parts.empty())
    return fmt::print("\n{}", parts);  // steps belong to the parts
  fmt::print("\nsteps lost  {}\n",
             summary.steps_lost >= 0 ? std::to_string(summary.steps_lost)
                                     : "unknown: the program reported no steps");
  if (const auto words = run::in_words(status.goodput.run); !words.empty())
    fmt::print("goodput     {}\n", words);
  if (!summary.advice.detail.empty()) fmt::print("advice      {}\n", summary.advice.detail);
  if (summary.accuracy >= 0) fmt::print("accuracy    {:.2f} %\n", summary.accuracy * 100);
  if (!summary.digest.empty()) fmt::print("digest      {}\n", summary.digest);
}

Result<int> act(const StatusOptions& options) {
  DTS_ASSIGN(const run::RunDirectory run, find(options.selection));
  if (launch::is_sweep(run)) return sweep_status(run, options.metric, options.json);
  if (!options.metric.empty())
    return fail(Errc::usage, "--metric compares the elements of a sweep, and this run has none");
  DTS_ASSIGN(const run::Ledger ledger, run::load_ledger(run.ledger()));
  Status status;
  status.run = run;
  status.parts = part_rows(run);
  RunFacts& known = status.known;
  known.run_directory = run.path;
  known.events = ledger.events;
  known.summary = run::summarise(known.events, run::read_metrics(run));
  if (known.summary.job.empty()) known.agent_lives = run::agent_lives(run);
  warn_of_damage(run, ledger, known.summary);
  const auto job = scheduler_job(run, known);
  warn_if_in_doubt(known, job);
  if (job) status.state = in_words(*job);
  if (job) status.other = words_of_other_state(known.events, *job, known.phrases.name);
  // An ended job has no running attempt, even if its agent had no time to record the end.
  const bool over = job && sched::is_terminal(job->state) && job->end_time > 0;
  if (known.forgotten || over || (job && sched::waits(*job))) status.unfinished = "unknown";
  status.goodput = run::account(known.events,
                                known.summary,
                                over ? std::chrono::system_clock::from_time_t(job->end_time)
                                     : std::chrono::system_clock::now(),
                                run::last_report(run));
  options.json ? print_json(status) : print_table(status);
  return 0;
}

}  // namespace

void add_status(CLI::App& app, Invocation& invocation) {
  const auto options = std::make_shared<StatusOptions>();
  CLI::App* verb = app.add_subcommand(
      "status", "show the attempts of a run, what ended each, and what was lost");
  add_selection(*verb, options->selection, Naming::optional);
  verb->add_option("--metric",
                   options->metric,
                   "of a sweep: number of metrics.jsonl to compare, e.g. accuracy:max [loss:min]")
      ->type_name("NAME[:min|max]");
  verb->add_flag("--json",
                 options->json,
                 "one JSON document, schema dtsubmit/status/1, of a sweep dtsubmit/sweep-status/1");
  verb->callback(
      [options, &invocation] { invocation.action = [options] { return act(*options); }; });
}

}  // namespace dts::cli
