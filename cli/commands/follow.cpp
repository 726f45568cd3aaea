// SPDX-License-Identifier: Apache-2.0
#include "cli/commands/follow.hpp"

#include "core/run/decision.hpp"
#include "core/run/ledger.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <thread>

namespace dts::cli {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr milliseconds k_look{500};
constexpr seconds k_first_question{1};
constexpr seconds k_slowest_question{30};

std::string in_words(const run::Event& event) {
  if (event.event == "attempt_started") return fmt::format("attempt {} begins", event.attempt);
  if (event.event == "ranks_started")
    return fmt::format("attempt {}: {}", event.attempt, event.detail);
  if (event.event == "attempt_ended")
    return fmt::format("attempt {} ended: {}: {}", event.attempt, event.cause, event.detail);
  if (event.event == "decided")
    return fmt::format("decision: {}: {}", event.decision, event.detail);
  if (event.event == "requeued") return "requeued; waiting for nodes";
  if (event.event == "resubmitted") return fmt::format("job {} continues the run", event.job);
  return {};
}

// The state of a follow: what was told already, and when to ask next.
class Follower {
 public:
  Follower(sched::Scheduler& scheduler, const run::RunDirectory& run, sched::JobId job)
      : scheduler_(scheduler), run_(run), job_(job) {}

  Result<int> follow() {
    while (true) {
      DTS_TRY(read_news());
      // Once the agent decided, the scheduler's own record follows within moments: ask for it soon.
      if (ended_) question_pause_ = std::min(question_pause_, seconds(1));
      if (Clock::now() >= next_question_)
        if (const auto code = ask()) return *code;
      std::this_thread::sleep_for(k_look);
    }
  }

 private:
  Result<void> read_news() {
    DTS_ASSIGN(const auto events, run::read_ledger(run_.ledger()));
    for (; told_ < events.size(); ++told_) {
      const run::Event& event = events[told_];
      if (const std::string words = in_words(event); !words.empty())
        fmt::print(stderr, "{}\n", words);
      if (event.event == "resubmitted") job_ = event.job;
      ended_ = event.event == "decided" && (event.decision == "done" || event.decision == "stop");
      if (ended_) {
        exit_code_ = event.exit_code;
        next_question_ = Clock::now();
      }
    }
    return {};
  }

  // The exit code once the job is over for good.
  std::optional<int> ask() {
    question_pause_ = std::min(question_pause_ * 2, k_slowest_question);
    next_question_ = Clock::now() + (ended_ ? seconds(1) : question_pause_);
    const auto info = scheduler_.job(job_);
    if (!info && info.error().code == Errc::not_found) return ended_ ? exit_code_ : 1;
    if (!info) {
      if (!troubled_) fmt::print(stderr, "{}; still waiting\n", info.error().message);
      troubled_ = true;
      return std::nullopt;
    }
    troubled_ = false;
    if (info->state != state_ || info->reason != reason_) {
      state_ = info->state;
      reason_ = info->reason;
      const bool says_why = !reason_.empty() && reason_ != "None";
      fmt::print(stderr,
                 "job {}: {}{}\n",
                 job_,
                 sched::to_string(state_),
                 says_why ? " (" + reason_ + ")" : "");
    }
    if (!sched::is_terminal(info->state) || info->completing) return std::nullopt;
    if (info->exit_signal != 0) return 128 + info->exit_signal;
    if (info->state == sched::JobState::cancelled && info->exit_code == 0) return 128 + SIGTERM;
    return ended_ ? exit_code_ : info->exit_code;
  }

  sched::Scheduler& scheduler_;
  const run::RunDirectory& run_;
  sched::JobId job_;
  std::size_t told_ = 0;
  bool ended_ = false;
  bool troubled_ = false;
  int exit_code_ = 1;
  sched::JobState state_ = sched::JobState::unknown;
  std::string reason_;
  seconds question_pause_ = k_first_question;
  Clock::time_point next_question_ = Clock::now();
};

}  // namespace

Result<int> follow_job(sched::Scheduler& scheduler,
                       const run::RunDirectory& run,
                       sched::JobId job) {
  return Follower(scheduler, run, job).follow();
}

}  // namespace dts::cli
