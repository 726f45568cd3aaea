// SPDX-License-Identifier: Apache-2.0
#include "core/drill/watch.hpp"

#include "core/base/files/files.hpp"
#include "core/base/os/interruption.hpp"
#include "core/run/ledger/history.hpp"
#include "core/run/ledger/newest_job.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <thread>

namespace dts::drill {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds k_look{200};
constexpr std::chrono::seconds k_question{2};  // between two queries of the scheduler
constexpr std::chrono::seconds k_over{
    10};  // a job that is being requeued is not over for this long
constexpr std::int64_t k_steps_on = 3;
constexpr std::chrono::seconds k_settle{
    10};  // for a new attempt that begins while the old one ends

const run::AttemptSummary* find(const RunView& story, unsigned number) {
  for (const run::AttemptSummary& attempt : story.summary.attempts)
    if (attempt.number == number) return &attempt;
  return nullptr;
}

// True if a rank of the attempt has written output, or the run's latest checkpoint has changed
// since the attempt began. Only signs from the programs count: having been started proves nothing.
bool shows_life(const run::RunDirectory& run, unsigned attempt, const std::string& checkpoint) {
  const bool is_elsewhere = !checkpoint.empty() && !exists(run.checkpoints() + "/" + checkpoint);
  if (!is_elsewhere && run::newest_checkpoint(run) != checkpoint) return true;
  const std::vector<std::string> files = list_folder(run.attempt(attempt));
  return std::any_of(files.begin(), files.end(), [&](const std::string& name) {
    std::error_code failed;
    const auto size = std::filesystem::file_size(run.attempt(attempt) + "/" + name, failed);
    return name.starts_with("rank-") && name.ends_with(".log") && !failed && size > 0;
  });
}

bool has_ranks(const RunView& story, unsigned attempt) {
  return std::any_of(story.events.begin(), story.events.end(), [&](const run::Event& event) {
    return event.is<run::RanksStarted>() && event.attempt == attempt;
  });
}

// Whether a later attempt has made progress. `reports_steps`: the program reported steps before.
bool is_back(const RunView& story, const Target& target, bool reports_steps) {
  return std::any_of(story.summary.attempts.begin(),
                     story.summary.attempts.end(),
                     [&](const run::AttemptSummary& later) {
                       if (later.number <= target.attempt) return false;
                       if (later.cause == run::Cause::completed)
                         return true;  // whatever it reported
                       if (reports_steps)
                         return later.last_step > std::max<std::int64_t>(0, later.first_step);
                       return has_ranks(story, later.number) &&
                              shows_life(target.run, later.number, later.resumable);
                     });
}

bool has_steps(const RunView& story, unsigned attempt) {
  const run::AttemptSummary* one = find(story, attempt);
  return one != nullptr && one->last_step >= 0;
}

double seconds_since(Clock::time_point then) {
  return std::chrono::duration<double>(Clock::now() - then).count();
}

// The number of the attempt's processes on the run's current nodes. Other nodes are no longer ours.
int left_of(const Target& target, const RunView& story) {
  Target now = target;
  now.job = story.summary.job;
  if (!story.summary.attempts.empty()) now.nodes = story.summary.attempts.back().nodes;
  const auto until = Clock::now() + k_settle;
  while (true) {
    const auto count = act_on(now, now.nodes, Act::count);
    if (!count) return -1;
    if (*count == 0 || Clock::now() > until) return static_cast<int>(*count);
    std::this_thread::sleep_for(k_look);
  }
}

// True once no process works for the job any more.
bool is_over(sched::Scheduler& scheduler, sched::JobId job) {
  const auto info = scheduler.job(job);
  if (!info) return info.error().code == Errc::not_found;
  return sched::is_terminal(info->state) && !info->completing;
}

}  // namespace

bool Ending::seen(const std::vector<run::Event>& events) {
  if (run::final_decision(events) != nullptr) return true;
  const sched::JobId job = run::newest_job(events);
  const auto now = Clock::now();
  if (scheduler_ == nullptr || job.empty() || now < next_question_) return false;
  next_question_ = now + k_question;
  if (!is_over(*scheduler_, job)) {
    over_since_.reset();
    return false;
  }
  if (!over_since_) over_since_ = now;
  return now - *over_since_ >= k_over;
}

Result<RunView> read_story(const run::RunDirectory& run) {
  RunView story;
  DTS_ASSIGN(story.events, run::read_ledger(run.ledger()));
  story.summary = run::summarise(story.events, run::read_metrics(run));
  return story;
}

Result<Target> find_target(const run::RunDirectory& run,
                           sched::Scheduler* scheduler,
                           std::optional<unsigned> rank) {
  DTS_ASSIGN(const RunView story, read_story(run));
  const auto number = run::unfinished_attempt(story.events);
  if (!number || run::final_decision(story.events) != nullptr || !has_ranks(story, *number))
    return fail(Errc::invalid,
                run.path + " has no running programs",
                "see `dtsubmit why`; a drill needs a run that trains");
  Target target{run, scheduler, story.summary.job, *number, {}, 0};
  const run::AttemptSummary* attempt = find(story, *number);
  if (attempt != nullptr) target.nodes = attempt->nodes;
  const std::string ended = attempt != nullptr ? attempt->cause.name() : "";
  if (!ended.empty())
    return fail(Errc::invalid, fmt::format("{} is being stopped: {}", run.path, ended), "wait");
  target.rank = rank.value_or(0);
  return target;
}

namespace {

// Calls `by_hand` once, after the scheduler itself has ended the job.
class HandCall {
 public:
  HandCall(const Target& target, const std::function<Result<void>()>& by_hand)
      : target_(target), by_hand_(by_hand), called_(!by_hand) {}

  [[nodiscard]] bool called() const { return called_; }

  Result<void> poll() {
    if (called_ || Clock::now() < next_question_) return {};
    next_question_ = Clock::now() + k_question;
    if (target_.scheduler == nullptr || !is_over(*target_.scheduler, target_.job)) return {};
    called_ = true;
    return by_hand_();
  }

 private:
  const Target& target_;
  const std::function<Result<void>()>& by_hand_;
  bool called_;
  Clock::time_point next_question_ = Clock::now() + k_question;
};

// True if the run's end was decided after its first `known` events.
bool is_decided_since(std::size_t known, const RunView& story) {
  const run::Event* last = run::final_decision(story.events);
  return last != nullptr && last - story.events.data() >= static_cast<long>(known);
}

}  // namespace

Result<Shown> watch(const Target& target,
                    Fault fault,
                    Clock::time_point since,
                    Clock::duration limit,
                    const std::function<Result<void>()>& by_hand) {
  Shown shown;
  shown.fault = fault;
  DTS_ASSIGN(RunView story, read_story(target.run));
  const std::size_t known = story.events.size();
  const bool reports_steps = has_steps(story, target.attempt);
  if (!reports_steps) shown.sign = "output or a checkpoint";
  HandCall hand(target, by_hand);
  Ending ending(target.scheduler);
  while (!is_back(story, target, reports_steps) && Clock::now() - since < limit) {
    shown.ended = hand.called() && (is_decided_since(known, story) || ending.seen(story.events));
    if (shown.ended) break;
    DTS_TRY(hand.poll());
    DTS_TRY(check_interruption());
    std::this_thread::sleep_for(k_look);
    DTS_ASSIGN(story, read_story(target.run));
  }
  if (is_back(story, target, reports_steps)) {
    shown.seconds = seconds_since(since);
    shown.left = left_of(target, story);
    DTS_ASSIGN(story, read_story(target.run));
  }
  if (const auto* attempt = find(story, target.attempt)) shown.attempt = *attempt;
  return shown;
}

Result<Shown> watch_survival(const Target& target,
                             Fault fault,
                             Clock::time_point since,
                             Clock::duration limit) {
  Shown shown;
  shown.fault = fault;
  std::int64_t first = -1;
  Ending ending(target.scheduler);
  while (Clock::now() - since < limit) {
    DTS_ASSIGN(const RunView story, read_story(target.run));
    if (const auto* attempt = find(story, target.attempt)) shown.attempt = *attempt;
    const std::int64_t step = shown.attempt.last_step;
    if (first < 0) first = step;
    // A program that reports no steps can only show that it is active.
    if (step < 0) shown.sign = "a sign of life";
    const bool went_on = step < 0 ? seconds_since(since) > 5 : step >= first + k_steps_on;
    if (went_on || !shown.attempt.ended.empty() || ending.seen(story.events)) {
      if (went_on) shown.seconds = seconds_since(since);
      break;
    }
    DTS_TRY(check_interruption());
    std::this_thread::sleep_for(k_look);
  }
  return shown;
}

}  // namespace dts::drill
