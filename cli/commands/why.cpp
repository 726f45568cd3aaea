// SPDX-License-Identifier: Apache-2.0
// dtsubmit why: explains why a run waits, runs or ended, from everything known about it.
#include "cli/output/why.hpp"

#include "cli/commands/command.hpp"
#include "cli/commands/ending.hpp"
#include "cli/commands/known_job.hpp"
#include "cli/commands/prepare.hpp"
#include "cli/commands/selection.hpp"
#include "cli/commands/source.hpp"
#include "cli/commands/sweep_commands.hpp"
#include "core/base/files/files.hpp"
#include "core/base/files/own_file.hpp"
#include "core/base/os/log.hpp"
#include "core/base/text/hostlist.hpp"
#include "core/base/text/text.hpp"
#include "core/launch/job/assignment.hpp"
#include "core/launch/job/element.hpp"
#include "core/launch/job/successor.hpp"
#include "core/plugin/scheduler.hpp"
#include "core/run/directory/lease.hpp"
#include "core/run/directory/parts.hpp"
#include "core/run/directory/rank_logs.hpp"
#include "core/run/summary/explain.hpp"
#include "core/script/log_link.hpp"
#include "core/spec/exports.hpp"
#include "core/spec/json.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <ctime>
#include <memory>
#include <set>
#include <utility>

namespace dts::cli {
namespace {

constexpr std::size_t k_lines = 20;
constexpr std::size_t k_set_up_lines = 10;  // all are shown: the first ones may say the most

struct WhyOptions {
  Selection selection;
  bool json = false;
};

// Counts whether the job waits for nodes that are down, or that it excludes: schedulers do not
// always report it.
void count_nodes(sched::Scheduler& scheduler, const run::RunDirectory& run, RunFacts& known) {
  if (known.job->state != sched::JobState::pending || known.job->wait != sched::Wait::nodes) return;
  const auto plan = launch::read_plan(run);
  const auto view = view_of(scheduler);
  if (!plan || !view) return;
  std::set<std::string> wanted;
  for (const auto& partition : view->partitions)
    for (const std::string& name : split(known.job->partition, ','))
      if (partition.name == name) wanted.insert(partition.nodes.begin(), partition.nodes.end());
  if (const std::string& excluded = known.job->exclude_nodes; !excluded.empty())
    for (const std::string& node : expand_hostlist(excluded).value_or(std::vector<std::string>()))
      wanted.erase(node);
  const auto up = std::count_if(view->nodes.begin(), view->nodes.end(), [&](const auto& node) {
    return node.up && wanted.count(node.name) != 0;
  });
  known.nodes_up = static_cast<unsigned>(up);
  known.nodes_needed = plan->nodes + plan->spares;
}

void ask_scheduler(const run::RunDirectory& run, RunFacts& known) {
  if (known.summary.job.empty()) return;
  const auto scheduler = plugin::load_scheduler();
  if (!scheduler) {
    known.no_job = scheduler.error().message;
    return;
  }
  known.phrases = (*scheduler)->phrases();
  if (const auto read = read_job(**scheduler, known); !read) known.no_job = read.error().message;
  if (known.job) count_nodes(**scheduler, run, known);
}

// The policy at submission; the default if spec.json cannot be read.
run::Policy policy_of(const run::RunDirectory& run) {
  const auto text = read_own_file(run.spec());
  const auto spec = text ? spec::from_json(*text, run.spec()) : Result<spec::JobSpec>{};
  if (!spec) return run::default_policy();
  return run::parse_policy(spec->on).value_or(run::default_policy());
}

// For a composed run: the part that ended the attempt, and this part's latest attempt.
std::pair<run::RunDirectory, unsigned> place_of_logs(const run::RunDirectory& run,
                                                     const run::AttemptSummary& attempt) {
  const auto part = attempt.part.empty() ? std::nullopt : run::part_named(run, attempt.part);
  if (!part) return {run, attempt.number};
  return {part->run, run::latest_attempt(part->run)};
}

void read_last_words(const run::RunDirectory& run, RunFacts& known) {
  for (const run::AttemptSummary& attempt : known.summary.attempts) {
    const bool is_set_up = attempt.cause == run::Cause::set_up_failed && !attempt.node.empty();
    const auto [place, number] = place_of_logs(run, attempt);
    LastWords words;
    if (is_set_up) {
      const std::string path = run::set_up_log(place, number, attempt.node);
      words = {
          "the set-up on " + attempt.node, path, run::last_lines_of_set_up(path, k_set_up_lines)};
    } else {
      const run::Cause cause = attempt.cause.value().value_or(run::Cause::completed);
      words = run::last_words(place, number, attempt.rank, cause, k_lines);
    }
    if (!words.lines.empty()) known.last_words[attempt.number] = std::move(words);
    if (attempt.ended.empty()) known.last_error = run::find_last_error(place, number);
  }
  const std::string path = script::log_path(run.path, known.summary.job.text());
  auto lines = run::last_lines(path, k_lines);
  if (!lines.empty()) known.batch_words = {"the batch script", path, std::move(lines)};
}

// The job id suffices if the run is in the default folder.
std::string shown_name(const run::RunDirectory& run,
                       const RunFacts& known,
                       const Selection& selection) {
  const bool by_job = !known.summary.job.empty() && selection.runs == Selection{}.runs &&
                      selection.what.find('/') == std::string::npos;
  return by_job ? known.summary.job.text() : shell_quote(run.path);
}

// True if the job gets this variable of the submitting shell.
bool is_exported(const spec::JobSpec& spec, const std::string& name) {
  const auto list = spec.slurm.find("export");
  if (list == spec.slurm.end()) return true;
  const auto exports = spec::parse_exports(list->second);
  return exports && spec::passes_on(*exports, name);
}

// The batch script's BASH_ENV; empty: none.
std::string bash_env_of(const run::RunDirectory& run) {
  const auto spec = launch::read_spec(run);
  const bool has_none = spec && !is_exported(*spec, "BASH_ENV");
  return has_none ? "" : recorded_variable(run, "BASH_ENV");
}

// That of a program that saves elsewhere takes precedence.
void add_own_checkpoint(const run::RunDirectory& run, RunFacts& known) {
  const auto spec = launch::read_spec(run);
  const auto folder = launch::work_folder(run);
  if (!spec || !folder || spec->checkpoints.empty()) return;
  const bool is_whole = spec->checkpoints.find_first_of("/~") == 0;
  const std::string pattern = (is_whole ? "" : glob_escaped(*folder) + "/") + spec->checkpoints;
  known.own_checkpoints = spec->checkpoints;
  if (const std::string own = run::newest_match(pattern, run, 1); !own.empty())
    known.checkpoint = own;
}

Result<RunFacts> learn(const run::RunDirectory& run, const Selection& selection) {
  RunFacts known;
  known.run_directory = run.path;
  DTS_ASSIGN(run::Ledger ledger, run::load_ledger(run.ledger()));
  known.events = std::move(ledger.events);
  known.summary = run::summarise(known.events, run::read_metrics(run));
  warn_of_damage(run, ledger, known.summary);
  known.name = shown_name(run, known, selection);
  known.policy = policy_of(run);

  const auto& attempts = known.summary.attempts;
  known.checkpoint =
      run::newest_checkpoint(attempts.empty() ? run : place_of_logs(run, attempts.back()).first);

  add_own_checkpoint(run, known);

  if (const auto reported = run::last_report(run))
    known.last_metric = std::chrono::system_clock::to_time_t(*reported);
  ask_scheduler(run, known);
  if (known.summary.job.empty()) known.agent_lives = run::agent_lives(run);
  read_last_words(run, known);
  if (attempts.empty()) known.bash_env = bash_env_of(run);
  known.now = std::time(nullptr);
  return known;
}

Result<int> act(const WhyOptions& options) {
  DTS_ASSIGN(const run::RunDirectory run, find(options.selection));
  if (launch::is_sweep(run)) return sweep_why(run, options.json);
  DTS_ASSIGN(const RunFacts known, learn(run, options.selection));
  const Explanation why = explain(known);
  fmt::print("{}", options.json ? to_json(why, known) : to_text(why, known));
  return 0;
}

}  // namespace

void print_ending(const run::RunDirectory& run, const Selection& selection) {
  const auto known = learn(run, selection);
  std::fflush(stdout);
  if (!known || !exists(run.ledger()))
    return tell("next: dtsubmit why {}\n", shell_quote(run.path));
  tell("{}", ending_text(explain(*known), *known));
}

void add_why(CLI::App& app, Invocation& invocation) {
  const auto options = std::make_shared<WhyOptions>();
  CLI::App* verb = app.add_subcommand("why", "explain why a job waits, runs or ended");
  add_selection(*verb, options->selection, Naming::optional);
  verb->add_flag("--json", options->json, "one JSON document, schema dtsubmit/why/1");
  verb->callback(
      [options, &invocation] { invocation.action = [options] { return act(*options); }; });
}

}  // namespace dts::cli
