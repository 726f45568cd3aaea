// SPDX-License-Identifier: Apache-2.0
#include "core/sched/order.hpp"

#include <algorithm>
#include <optional>
#include <string>
#include <thread>

namespace dts::sched {
namespace {

using Clock = std::chrono::steady_clock;

bool is_unreachable(const Error& error) {
  return error.code == Errc::unreachable;
}

tl::unexpected<Error> unknown_outcome(const Error& lost) {
  return fail(Errc::unreachable,
              lost.message + "; the controller may still do it when it answers again",
              "`dtsubmit status` shows the outcome");
}

// The time left to find out the outcome of an order.
class AnswerWait {
 public:
  explicit AnswerWait(const Patience& patience)
      : patience_(patience), until_(Clock::now() + patience.limit) {
    if (patience.begins) patience.begins();
  }

  // Waits for the next query; false if the time is up.
  bool go_on() {
    if (Clock::now() >= until_ || (patience_.given_up && patience_.given_up())) return false;
    std::this_thread::sleep_for(patience_.query_interval);
    return true;
  }

  // Call it when the controller answers and does not know the order. True once this has been so for
  // long enough.
  bool is_settled() {
    answered_ = std::min(answered_, Clock::now());
    return Clock::now() - answered_ >= patience_.settle;
  }

 private:
  const Patience& patience_;
  const Clock::time_point until_;
  Clock::time_point answered_ = Clock::time_point::max();
};

// The latest job of that script that did not exist before.
Result<JobId> new_job(Scheduler& scheduler,
                      const std::string& script,
                      const std::set<JobId>& known) {
  DTS_ASSIGN(const auto jobs, find_jobs(scheduler, script));
  JobId newest;
  for (const JobInfo& job : jobs)
    if (known.count(job.id) == 0) newest = job.array.empty() ? job.id : job.array;
  return newest;
}

// True if the controller has requeued the job since its state was `before`.
bool was_requeued(const JobInfo& before, const JobInfo& now) {
  return now.state == JobState::pending || now.restart_count > before.restart_count;
}

// The outcome; nullopt if the order did not arrive and may be sent again.
std::optional<Result<void>> outcome_of_requeue(Scheduler& scheduler,
                                               const JobInfo& before,
                                               AnswerWait& wait,
                                               const Error& lost) {
  while (wait.go_on()) {
    const auto now = scheduler.job(before.id);
    if (!now && !is_unreachable(now.error())) return tl::unexpected<Error>(now.error());
    if (!now) continue;
    if (was_requeued(before, *now)) return Result<void>();
    if (wait.is_settled()) return std::nullopt;
  }
  return unknown_outcome(lost);
}

template <class Order>
Result<void> until_answered(const Order& order, const Patience& patience) {
  const auto first = order();
  if (first || !is_unreachable(first.error())) return first;
  AnswerWait wait(patience);
  while (wait.go_on()) {
    auto again = order();
    if (again || !is_unreachable(again.error())) return again;
  }
  return unknown_outcome(first.error());
}

}  // namespace

Result<std::vector<JobInfo>> find_jobs(Scheduler& scheduler, const std::string& script_path) {
  if (auto* const search = dynamic_cast<JobSearch*>(&scheduler)) return search->find(script_path);
  return fail(Errc::invalid, "this scheduler cannot search for jobs");
}

Result<std::optional<JobId>> submit_once(Scheduler& scheduler,
                                         const Submission& submission,
                                         const std::set<JobId>& known,
                                         const Patience& patience) {
  const auto submitted = scheduler.submit(submission);
  if (submitted) return std::optional(*submitted);
  if (!is_unreachable(submitted.error())) return tl::unexpected<Error>(submitted.error());
  AnswerWait wait(patience);
  while (wait.go_on()) {
    const auto job = new_job(scheduler, submission.script_path, known);
    if (!job && !is_unreachable(job.error())) break;  // a scheduler without JobSearch
    if (!job) continue;
    if (!job->empty()) return std::optional(*job);
    if (wait.is_settled())
      return fail(Errc::unreachable,
                  submitted.error().message + "; the controller answers again and has no such job",
                  "submit it again");
  }
  return std::optional<JobId>();
}

Result<void> cancel_for_certain(Scheduler& scheduler,
                                JobId job,
                                const Patience& patience,
                                const std::function<Result<void>(const JobInfo&)>& check) {
  const auto info = scheduler.job(job);
  // While the controller is unreachable, send no order: it might be carried out hours later.
  if (!info && is_unreachable(info.error())) return tl::unexpected<Error>(info.error());
  if (info && check) DTS_TRY(check(*info));
  // Repeating it does no harm: a job that has already ended is fine.
  return until_answered([&] { return scheduler.cancel(job); }, patience);
}

Result<void> requeue_once(Scheduler& scheduler, JobId job, const Patience& patience) {
  DTS_ASSIGN(const JobInfo before, scheduler.job(job));
  auto requeued = scheduler.requeue(job);
  if (requeued || !is_unreachable(requeued.error())) return requeued;
  AnswerWait wait(patience);
  while (true) {
    if (auto outcome = outcome_of_requeue(scheduler, before, wait, requeued.error()))
      return *std::move(outcome);
    requeued = scheduler.requeue(job);
    if (requeued || !is_unreachable(requeued.error())) return requeued;
  }
}

Result<void> signal_for_certain(Scheduler& scheduler,
                                JobId job,
                                int signal,
                                const Patience& patience) {
  bool lost = false;
  const auto order = [&]() -> Result<void> {
    auto sent = scheduler.signal_batch(job, signal);
    if (sent || is_unreachable(sent.error())) {
      lost = lost || !sent;
      return sent;
    }
    // The signal whose reply was lost may have ended the job.
    const auto now =
        lost ? scheduler.job(job) : Result<JobInfo>(tl::unexpected<Error>(sent.error()));
    const bool over = now ? is_terminal(now->state) : lost && now.error().code == Errc::not_found;
    return over ? Result<void>() : sent;
  };
  return until_answered(order, patience);
}

}  // namespace dts::sched
