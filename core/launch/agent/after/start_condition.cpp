// SPDX-License-Identifier: Apache-2.0
#include "core/launch/agent/after/start_condition.hpp"

#include "core/base/os/log.hpp"
#include "core/base/text/text.hpp"
#include "core/launch/agent/after/after.hpp"
#include "core/launch/job/successor.hpp"
#include "core/plugin/scheduler.hpp"
#include "core/run/index/index.hpp"
#include "core/run/ledger/ledger.hpp"
#include "core/sched/order.hpp"

#include <fmt/format.h>

#include <set>
#include <thread>

namespace dts::launch {
namespace {

constexpr std::chrono::seconds k_pause{3};
constexpr int k_tries = 40;  // over two minutes, as when a job comes back

// Retries, because nothing is known while the controller is unreachable.
Result<Awaited> query_with_retries(sched::Scheduler& scheduler,
                                   const std::vector<spec::After>& after) {
  for (int i = 1;; ++i) {
    auto awaited = look_at_awaited(scheduler, after);
    if (awaited || awaited.error().code != Errc::unreachable || i == k_tries) return awaited;
    std::this_thread::sleep_for(k_pause);
  }
}

Result<int> stop_here(const Assignment& job, const std::string& why) {
  log("{}", why);
  const int code = exit_code(Errc::invalid);
  DTS_TRY(run::append_event(
      job.run.ledger(),
      {.job = job.allocation.job,
       .what = run::Decided{.exit_code = code, .decision = run::Action::stop, .detail = why}}));
  return code;
}

// Waits again in another job, because this job's dependency was satisfied too early.
Result<int> queue_again(sched::Scheduler& scheduler,
                        const Assignment& job,
                        const Awaited& awaited) {
  DTS_ASSIGN(sched::Submission again, make_successor(job.run));
  again.once["dependency"] = dependency_on(awaited.jobs);
  std::set<sched::JobId> known{job.allocation.job};
  DTS_ASSIGN(const auto jobs, sched::find_jobs(scheduler, again.script_path));
  for (const sched::JobInfo& other : jobs) known.insert(other.id);
  DTS_ASSIGN(const auto next, sched::submit_once(scheduler, again, known));
  if (!next)
    return fail(Errc::unreachable, "no answer to the submission of the job that continues to wait");
  log("a run that --after names continues: job {} waits for it ({})",
      *next,
      again.once["dependency"]);
  DTS_TRY(run::append_event(
      job.run.ledger(),
      {.job = *next, .what = run::Resubmitted{"a run that it waits for continues"}}));
  if (const auto noted = run::add_job_to_index(job.run, *next); !noted)
    log("not in the index of runs: {}", noted.error().message);
  return 0;
}

}  // namespace

Result<std::optional<int>> wait_on(const Assignment& job) {
  if (job.spec.after.empty() || run::latest_attempt(job.run) > 0) return std::nullopt;
  std::vector<spec::After> after;
  for (const std::string& text : job.spec.after) {
    DTS_ASSIGN(after.emplace_back(), spec::parse_after(text));
  }
  DTS_ASSIGN(const auto scheduler, plugin::load_scheduler(plugin::scheduler_name(), true));
  DTS_ASSIGN(const Awaited awaited, query_with_retries(*scheduler, after));
  if (!awaited.refused.empty()) return stop_here(job, join(awaited.refused, "; "));
  if (!awaited.jobs.empty()) return queue_again(*scheduler, job, awaited);
  return std::nullopt;
}

}  // namespace dts::launch
