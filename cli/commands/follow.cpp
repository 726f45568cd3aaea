// SPDX-License-Identifier: Apache-2.0
#include "cli/commands/follow.hpp"

#include "cli/commands/interruptible_wait.hpp"
#include "cli/output/end_words.hpp"
#include "core/base/os/log.hpp"
#include "core/base/text/text.hpp"
#include "core/launch/job/own_job.hpp"
#include "core/run/directory/presence.hpp"
#include "core/run/ledger/decision.hpp"
#include "core/run/ledger/ledger.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <optional>
#include <utility>

namespace dts::cli {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr milliseconds k_follow_interval{500};
constexpr seconds k_first_question{1};
constexpr seconds k_slowest_question{30};

std::string in_words(const run::Event& event) {
  if (event.is<run::AttemptStarted>()) return fmt::format("attempt {} begins", event.attempt);
  if (const auto* ranks = event.as<run::RanksStarted>())
    return fmt::format("attempt {}: {}", event.attempt, ranks->detail);
  if (const auto* ended = event.as<run::AttemptEnded>())
    return fmt::format(
        "attempt {} ended: {}: {}", event.attempt, ended->cause.name(), ended->detail);
  if (const auto* decided = event.as<run::Decided>())
    return fmt::format("decision: {}: {}", decided->decision.name(), decided->detail);
  if (const auto* warning = event.as<run::Warning>())
    return fmt::format("warning: {}", warning->detail);
  if (event.is<run::Requeued>()) return "requeued; waiting for nodes";
  if (event.is<run::Resubmitted>()) return fmt::format("job {} continues the run", event.job);
  return {};
}

// The job's exit code once it has ended for good; queried after each update.
class JobEnd {
 public:
  JobEnd(sched::Scheduler& scheduler, const run::RunDirectory& run, sched::JobId job)
      : scheduler_(scheduler), run_(run), job_(job) {}

  void take(const run::Event& event) {
    if (event.is<run::Resubmitted>()) job_ = event.job;
  }

  // `decided`: the exit code in the ledger's last record, if there is one. `soon`: the agent has
  // ended or is about to, so the scheduler's own record will follow within moments.
  std::optional<int> poll(const std::optional<int>& decided, bool soon) {
    if (soon && !was_soon_) next_question_ = Clock::now();
    was_soon_ = soon;
    if (Clock::now() < next_question_) return std::nullopt;
    question_pause_ = std::min(question_pause_ * 2, k_slowest_question);
    next_question_ = Clock::now() + (soon ? seconds(1) : question_pause_);
    return ask(decided);
  }

 private:
  static std::string in_words(const sched::JobInfo& job) {
    if (job.preparing && !job.explanation.empty()) return job.explanation;
    return std::string(sched::to_string(job.state)) +
           (job.reason.empty() ? "" : " (" + job.reason + ")");
  }

  std::optional<int> ask(const std::optional<int>& decided) {
    const auto info = launch::job_of_run(scheduler_, run_, job_);
    if (!info && info.error().code == Errc::not_found) return decided.value_or(1);
    if (!info) {
      if (!troubled_) tell("{}; still waiting\n", info.error().message);
      troubled_ = true;
      return std::nullopt;
    }
    troubled_ = false;
    if (const std::string words = in_words(*info); words != said_) {
      said_ = words;
      // The scheduler says "failed (NonZeroExitCode)" of a stopped run; the ledger is more precise.
      const bool is_known = decided && sched::is_terminal(info->state);
      if (!is_known) tell("job {}: {}\n", job_, words);
    }
    if (!sched::is_terminal(info->state) || info->completing) return std::nullopt;
    if (const auto events = run::read_ledger(run_.ledger()))
      if (const std::string words = words_of_other_state(*events, *info, scheduler_.phrases().name);
          !words.empty())
        tell("{}.\n", words);
    return exit_code_of_end(*info, decided);
  }

  sched::Scheduler& scheduler_;
  const run::RunDirectory& run_;
  sched::JobId job_;
  bool was_soon_ = false;
  bool troubled_ = false;
  std::string said_;  // of its state
  seconds question_pause_ = k_first_question;
  Clock::time_point next_question_ = Clock::now();
};

// The same for an agent that is a process of this machine.
class ProcessEnd {
 public:
  explicit ProcessEnd(const run::Lease& agent) : agent_(agent) {}

  void take(const run::Event&) {}

  std::optional<int> poll(const std::optional<int>& decided, bool) {
    if (run::holder_of(agent_) == run::Holder::alive) return std::nullopt;
    if (!decided && !std::exchange(gone_, true)) return std::nullopt;  // its last record may be new
    return decided.value_or(1);
  }

 private:
  const run::Lease& agent_;
  bool gone_ = false;
};

// Follows the ledger as it grows. If it is unreadable, only the end of the job is awaited.
class News {
 public:
  News(const run::RunDirectory& run, std::size_t told) : run_(run), reported_events_(told) {}

  template <class End>
  [[nodiscard]] Result<void> poll(End& end) {
    vanished_ = !presence_.poll();
    const auto events = run::read_ledger(run_.ledger());
    if (!events) return trouble(events.error());
    for (; reported_events_ < events->size(); ++reported_events_) {
      const run::Event& event = (*events)[reported_events_];
      if (const std::string words = in_words(event); !words.empty()) tell("{}\n", words);
      end.take(event);
      decided_.reset();
      if (run::ends_run(event)) decided_ = event.as<run::Decided>()->exit_code.value_or(-1);
    }
    return {};
  }

  // The exit code in the run's last record.
  [[nodiscard]] const std::optional<int>& decided() const { return decided_; }

  [[nodiscard]] bool vanished() const { return vanished_; }

 private:
  [[nodiscard]] Result<void> trouble(const Error& error) {
    if (error.code != Errc::not_found && error.code != Errc::io)
      return tl::unexpected<Error>(error);
    if (error.code == Errc::not_found && !vanished_) return {};  // perhaps a file server hiccup
    const std::string words =
        vanished_ ? run::vanished_words(run_) : error.message + "; still waiting";
    if (std::exchange(said_, words) != words) tell("{}\n", words);
    return {};
  }

  const run::RunDirectory& run_;
  run::Presence presence_{run_};
  std::size_t reported_events_;
  std::optional<int> decided_;
  bool vanished_ = false;
  std::string said_;
};

template <class End>
Result<int> follow(const run::RunDirectory& run,
                   End end,
                   std::size_t told,
                   const std::string& on_interrupt) {
  const InterruptibleWait wait(on_interrupt);
  News news(run, told);
  while (true) {
    DTS_TRY(news.poll(end));
    if (const auto code = end.poll(news.decided(), news.decided() || news.vanished())) {
      // The final record may have arrived since the last look; Presence needs two of them.
      for (int looks = 0; looks < 2 && !news.decided(); ++looks) DTS_TRY(news.poll(end));
      if (news.vanished() && !news.decided()) return exit_code(Errc::io);  // which it has reported
      return *code;
    }
    wait.pause(k_follow_interval);
  }
}

}  // namespace

Result<int> follow_job(sched::Scheduler& scheduler,
                       const run::RunDirectory& run,
                       sched::JobId job,
                       std::size_t first,
                       const std::string& on_interrupt) {
  return follow(run, JobEnd(scheduler, run, job), first, on_interrupt);
}

Result<int> follow_local(const run::RunDirectory& run,
                         const run::Lease& agent,
                         std::size_t first,
                         const std::string& on_interrupt) {
  return follow(run, ProcessEnd(agent), first, on_interrupt);
}

std::string still_saves_words(const std::string& what, const std::string& name) {
  const std::string words = fmt::format("the waiting ends here; {} still saves and ends", what);
  return name.empty() ? words : words + "\ncancel it if it cannot: dtsubmit cancel " + name;
}

}  // namespace dts::cli
