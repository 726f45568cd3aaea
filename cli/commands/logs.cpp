// SPDX-License-Identifier: Apache-2.0
// dtsubmit logs: the output of a rank or the agent, once or as it grows, across attempts.
#include "cli/commands/command.hpp"
#include "cli/commands/counts.hpp"
#include "cli/commands/ending.hpp"
#include "cli/commands/selection.hpp"
#include "cli/commands/sweep_commands.hpp"
#include "core/base/files/files.hpp"
#include "core/base/os/log.hpp"
#include "core/base/text/text.hpp"
#include "core/launch/job/element.hpp"
#include "core/launch/job/own_job.hpp"
#include "core/plugin/scheduler.hpp"
#include "core/run/directory/parts.hpp"
#include "core/run/directory/presence.hpp"
#include "core/run/directory/rank_logs.hpp"
#include "core/run/ledger/history.hpp"
#include "core/run/ledger/ledger.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <limits>
#include <memory>
#include <optional>
#include <thread>
#include <utility>

namespace dts::cli {
namespace {

constexpr std::chrono::milliseconds k_poll{300};

struct LogOptions {
  Selection selection;
  std::string ranks = "0";
  unsigned attempt = 0;  // 0: the newest; with -f every one from the newest on
  bool agent = false;
  bool follow = false;
};

// The logs shown for one attempt: the agent's, or those of ranks.
class ShownLogs {
 public:
  ShownLogs(const run::RunDirectory& run, const LogOptions& options, run::RankSelection ranks)
      : run_(run), agent_(options.agent), ranks_(std::move(ranks)) {}

  void select(unsigned attempt) {
    agent_log_.reset();
    rank_logs_.reset();
    if (agent_)
      agent_log_.emplace(run_.agent_log(attempt));
    else
      rank_logs_.emplace(run_, attempt, ranks_);
  }

  Result<void> poll() {
    if (agent_log_) DTS_TRY(agent_log_->copy_to(STDOUT_FILENO));
    if (rank_logs_) DTS_TRY(rank_logs_->copy_to(STDOUT_FILENO));
    return {};
  }

  Result<void> rest() {
    if (agent_log_) DTS_TRY(agent_log_->copy_rest(STDOUT_FILENO));
    if (rank_logs_) DTS_TRY(rank_logs_->copy_rest(STDOUT_FILENO));
    return {};
  }

  // The first requested file that does not exist.
  [[nodiscard]] std::optional<std::string> missing(unsigned attempt) const {
    if (agent_) return absent(run_.agent_log(attempt));
    if (ranks_.all) return std::nullopt;
    for (const unsigned rank : ranks_.ranks)
      if (auto file = absent(run_.rank_log(attempt, rank))) return file;
    return std::nullopt;
  }

 private:
  static std::optional<std::string> absent(const std::string& file) {
    return exists(file) ? std::nullopt : std::optional(file);
  }

  run::RunDirectory run_;
  bool agent_;
  run::RankSelection ranks_;
  std::optional<run::LogFollower> agent_log_;
  std::optional<run::RankLogs> rank_logs_;
};

bool is_over(const run::RunDirectory& run) {
  const auto events = run::read_ledger(run.ledger());
  if (!events || events->empty()) return false;
  return run::ends_run(events->back());
}

// A job that is cancelled while pending has no agent to record it: ask the scheduler, at increasing
// intervals.
class EndInQueue {
 public:
  explicit EndInQueue(const run::RunDirectory& run) : run_(run) {}

  // True once the job has ended for good without an end in the ledger.
  bool poll() {
    if (Clock::now() < next_question_) return false;
    pause_ = std::min(pause_ * 2, k_slowest_question);
    const bool ended = has_ended();
    // The agent may have recorded the end in the meantime: check once more.
    next_question_ = Clock::now() + (ended ? k_last_word : pause_);
    return std::exchange(ended_, ended) && ended;
  }

 private:
  using Clock = std::chrono::steady_clock;
  static constexpr std::chrono::seconds k_slowest_question{10};
  static constexpr std::chrono::seconds k_last_word{1};

  bool has_ended() {
    const auto job = job_of(run_);
    if (!job) return false;
    if (!scheduler_) {
      auto loaded = plugin::load_scheduler();
      if (!loaded) return false;
      scheduler_ = *std::move(loaded);
    }
    const auto info = launch::job_of_run(*scheduler_, run_, *job);
    if (!info) return info.error().code == Errc::not_found;
    return sched::is_terminal(info->state) && !info->completing;
  }

  const run::RunDirectory& run_;
  std::unique_ptr<sched::Scheduler> scheduler_;
  bool ended_ = false;
  std::chrono::seconds pause_{1};
  Clock::time_point next_question_ = Clock::now() + std::chrono::seconds(1);
};

// A part that was ended because of another part may restart while the whole run continues.
bool is_over(const run::RunDirectory& run, const run::RunDirectory& whole) {
  if (run.path == whole.path) return is_over(run);
  const auto events = run::read_ledger(run.ledger());
  return (events && run::is_done(*events)) || is_over(whole);
}

Result<int> show_ending(const run::RunDirectory& whole,
                        const LogOptions& options,
                        ShownLogs& shown) {
  DTS_TRY(shown.rest());
  print_ending(whole, options.selection);
  return 0;
}

Result<int> show_vanished(const run::RunDirectory& run, ShownLogs& shown) {
  DTS_TRY(shown.rest());
  return fail(Errc::io,
              run::vanished_words(run),
              "dtsubmit why " + shell_quote(run.path) + " shows what is known about it");
}

// `whole`: the run that contains the part `run`, or `run` itself.
Result<int> follow(const run::RunDirectory& run,
                   const run::RunDirectory& whole,
                   const LogOptions& options,
                   ShownLogs& shown) {
  EndInQueue end(whole);
  run::Presence presence(run);
  unsigned attempt =
      std::max(1U, options.attempt != 0 ? options.attempt : run::latest_attempt(run));
  shown.select(attempt);
  while (true) {
    const bool over =
        is_over(run, whole);  // checked before the last copy, so that nothing is missed
    const bool newer = run::latest_attempt(run) > attempt;
    DTS_TRY(over || newer ? shown.rest() : shown.poll());
    if (newer && options.attempt == 0) {
      tell("--- attempt {} ---\n", ++attempt);
      shown.select(attempt);
      continue;
    }
    if (over && options.attempt == 0 && is_over(whole)) print_ending(whole, options.selection);
    if (over || newer) return 0;
    if (end.poll()) return show_ending(whole, options, shown);
    if (!presence.poll()) return show_vanished(run, shown);
    std::this_thread::sleep_for(k_poll);
  }
}

// The part of a composed run to show: the running one, otherwise the last that ran.
run::RunDirectory part_to_show(const run::RunDirectory& whole) {
  run::RunDirectory shown = whole;
  for (const run::PartDirectory& part : run::parts_of(whole)) {
    if (run::latest_attempt(part.run) == 0) continue;
    shown = part.run;
    if (const auto events = run::read_ledger(shown.ledger()); events && !run::is_done(*events))
      break;
  }
  return shown;
}

// Follows the parts in turn, from the first that is not done.
Result<int> follow_parts(const run::RunDirectory& whole,
                         const LogOptions& options,
                         const run::RankSelection& ranks) {
  for (const run::PartDirectory& part : run::parts_of(whole)) {
    const auto events = run::read_ledger(part.run.ledger());
    if ((events && run::is_done(*events)) || is_over(whole)) continue;
    tell("--- {} {} ---\n", part.is_role ? "role" : "step", part.name);
    ShownLogs shown(part.run, options, ranks);
    DTS_TRY(follow(part.run, whole, options, shown));
  }
  return 0;
}

Result<int> act(const LogOptions& options) {
  DTS_ASSIGN(run::RankSelection ranks, run::parse_ranks(options.ranks));
  DTS_ASSIGN(run::RunDirectory run, find(options.selection));
  if (launch::is_sweep(run)) return choose_element(run, "logs");
  const bool is_composed = !options.agent && !run::parts_of(run).empty();
  if (is_composed && options.follow && !is_over(run)) return follow_parts(run, options, ranks);
  if (is_composed) run = part_to_show(run);
  ShownLogs shown(run, options, std::move(ranks));
  if (options.follow) return follow(run, run::whole_of(run), options, shown);
  const unsigned attempt = options.attempt != 0 ? options.attempt : run::latest_attempt(run);
  if (attempt == 0)
    return fail(Errc::not_found,
                "no attempt of the run has begun",
                fmt::format("dtsubmit why {0} says why; dtsubmit logs -f {0} waits for one",
                            options.selection.what));
  if (const unsigned newest = run::latest_attempt(run); attempt > newest)
    return fail(Errc::not_found,
                fmt::format("there is no attempt {}; the newest is {}", attempt, newest),
                "`dtsubmit status` shows the attempts");
  if (const auto file = shown.missing(attempt))
    return fail(Errc::not_found,
                *file + " does not exist",
                fmt::format("the attempt had no such rank (ranks are counted from 0), or did not "
                            "start its program: dtsubmit why {}",
                            options.selection.what));
  shown.select(attempt);
  DTS_TRY(shown.rest());
  return 0;
}

}  // namespace

void add_logs(CLI::App& app, Invocation& invocation) {
  const auto options = std::make_shared<LogOptions>();
  CLI::App* verb = app.add_subcommand("logs", "show what ranks wrote");
  add_selection(*verb, options->selection, Naming::optional);
  verb->add_option("--rank,--ranks", options->ranks, "global ranks: all, 0, 0,4-7 [0]")
      ->type_name("RANKS");
  CLI::Option* attempt =
      verb->add_option("--attempt", options->attempt, "number of the attempt [the newest]");
  accept_whole(*attempt->type_name("K"), 1, std::numeric_limits<unsigned>::max());
  verb->add_flag("--agent", options->agent, "the agent's log instead of a rank's");
  verb->add_flag(
      "-f,--follow", options->follow, "follow the log across all attempts, until the run is over");
  verb->callback(
      [options, &invocation] { invocation.action = [options] { return act(*options); }; });
}

}  // namespace dts::cli
