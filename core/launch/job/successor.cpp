// SPDX-License-Identifier: Apache-2.0
#include "core/launch/job/successor.hpp"

#include "core/base/files/files.hpp"
#include "core/base/files/own_file.hpp"
#include "core/base/os/environment.hpp"
#include "core/base/text/units.hpp"
#include "core/launch/job/assignment.hpp"
#include "core/launch/job/own_job.hpp"
#include "core/launch/job/stop_way.hpp"
#include "core/run/directory/file_lock.hpp"
#include "core/run/directory/lease.hpp"
#include "core/run/directory/parts.hpp"
#include "core/run/directory/writable.hpp"
#include "core/run/ledger/history.hpp"
#include "core/run/ledger/ledger.hpp"
#include "core/run/ledger/newest_job.hpp"
#include "core/script/submission.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <set>
#include <thread>

namespace dts::launch {

Result<std::string> work_folder(const run::RunDirectory& run) {
  DTS_ASSIGN(const std::string text, read_own_file(run.provenance()));
  const auto record = nlohmann::json::parse(text, nullptr, false);
  if (!record.is_object() || !record.contains("folder") || !record["folder"].is_string())
    return fail(Errc::invalid, run.provenance() + ": no \"folder\"");
  return record["folder"].get<std::string>();
}

namespace {

constexpr const char* k_fallback = "/tmp";  // of slurmstepd

}  // namespace

std::string folder_here() {
  // Fails for a folder that has been removed: getcwd(2).
  std::error_code failed;
  const std::filesystem::path here = std::filesystem::current_path(failed);

  struct stat found {};

  return failed || ::stat(".", &found) != 0 ? "" : here.string();
}

std::string enter_folder(const std::string& folder) {
  const std::string here = folder_here();
  if (folder.empty() || here == folder || ::chdir(folder.c_str()) == 0) return {};
  const std::string why =
      fmt::format("the working folder {} cannot be entered: {}", folder, std::strerror(errno));
  return here.empty() ? why : fmt::format("{}; the program runs in {}", why, here);
}

std::string enter_work_folder(const run::RunDirectory& run) {
  const auto folder = work_folder(run);
  const std::string here = folder_here();
  if (!folder || (!here.empty() && (here != k_fallback || *folder == k_fallback))) return {};
  return enter_folder(*folder);
}

std::vector<std::string> scrubbed_environment() {
  std::vector<std::string> environment = environment_entries();
  const std::string advice = getenv_lookup(plan::k_advice_variable).value_or("");
  std::erase_if(environment, [&](const std::string& entry) {
    return plan::is_leaky_variable(variable_name(entry)) || plan::is_advice(entry, advice);
  });
  return environment;
}

Result<sched::Submission> make_successor(const run::RunDirectory& run) {
  DTS_ASSIGN(const spec::JobSpec spec, read_spec(run));
  DTS_ASSIGN(const plan::Plan plan, read_plan(run));
  script::JobFiles files;
  DTS_ASSIGN(files.script, read_own_file(run.script()));
  DTS_ASSIGN(files.work_folder, work_folder(run));
  files.script_path = run.script();
  files.run_dir = run.path;
  files.environment = scrubbed_environment();
  for (const run::PartDirectory& part : run::parts_of(run)) {
    DTS_ASSIGN(plan::Plan plan_of_part, read_plan(part.run));
    files.parts.push_back(std::move(plan_of_part));
  }
  sched::Submission successor = script::make_submission(spec, plan, std::move(files));
  successor.once.clear();
  successor.continues_after = 0;
  return successor;
}

namespace {

// How long a second requeue waits for the first one's result.
constexpr std::chrono::minutes k_lock_patience{5};

using By = Resumed::By;

std::set<sched::JobId> jobs_of(const std::vector<run::Event>& events) {
  std::set<sched::JobId> jobs;
  for (const run::Event& event : events)
    if (!event.job.empty()) jobs.insert(event.job);
  return jobs;
}

// A live job of the run that its ledger does not have, because the answer to its submission was
// lost. Empty if there is none, or if the scheduler cannot search.
sched::JobId unrecorded_job(sched::Scheduler& scheduler,
                            const run::RunDirectory& run,
                            const std::set<sched::JobId>& recorded) {
  const auto jobs = sched::find_jobs(scheduler, run.script());
  if (!jobs) return {};
  for (const sched::JobInfo& job : *jobs)
    if (!sched::is_terminal(job.state) && recorded.count(job.id) == 0) return job.id;
  return {};
}

Result<Resumed> submit_successor(sched::Scheduler& scheduler,
                                 const run::RunDirectory& run,
                                 std::set<sched::JobId> known,
                                 const sched::Patience& patience) {
  DTS_ASSIGN(const sched::Submission successor, make_successor(run));
  DTS_ASSIGN(const auto jobs, sched::find_jobs(scheduler, run.script()));
  for (const sched::JobInfo& job : jobs) known.insert(job.id);
  DTS_ASSIGN(const auto job, sched::submit_once(scheduler, successor, known, patience));
  if (job) return Resumed{*job, By::submission};
  return fail(Errc::unreachable,
              "no answer to the submission: the job may still have been accepted",
              "run the same command later: it finds the job, or submits it");
}

// The latest job in the ledger, or if a damaged ledger has lost it, the job of the latest attempt.
sched::JobId last_job(const run::RunDirectory& run, const std::vector<run::Event>& events) {
  const sched::JobId job = run::newest_job(events);
  if (!job.empty()) return job;
  const auto lease = run::latest_lease(run);
  return lease ? lease->job : sched::JobId();
}

// Requeues the run's job, if the scheduler still knows the job and allows it; otherwise submits a
// successor under a new id.
Result<Resumed> put_back(sched::Scheduler& scheduler,
                         const run::RunDirectory& run,
                         const std::vector<run::Event>& events,
                         const sched::Patience& patience) {
  const std::set<sched::JobId> known = jobs_of(events);
  if (const sched::JobId found = unrecorded_job(scheduler, run, known); !found.empty())
    return Resumed{found, By::another};
  const sched::JobId job = last_job(run, events);
  if (job.empty()) return submit_successor(scheduler, run, known, patience);
  const auto info = job_of_run(scheduler, run, job);
  if (!info && info.error().code != Errc::not_found) return tl::unexpected<Error>(info.error());
  if (!info) return submit_successor(scheduler, run, known, patience);
  if (waits_for_agent(*info, run::latest_lease(run)) && !info->completing)
    return Resumed{job, By::queue, info->explanation, info->advice};
  const auto requeued = sched::requeue_once(scheduler, job, patience);
  if (requeued) return Resumed{job, By::requeue};
  // If the job still runs and may not be requeued, a second job would write into the same run.
  if (requeued.error().code == Errc::unreachable || !sched::is_terminal(info->state))
    return tl::unexpected<Error>(requeued.error());
  return submit_successor(scheduler, run, known, patience);
}

// Whether a job that is not over waits; nullopt if it is over, or the scheduler no longer knows it.
Result<std::optional<bool>> waits_if_live(sched::Scheduler& scheduler,
                                          const run::RunDirectory& run,
                                          const sched::JobId& job) {
  const auto info = job_of_run(scheduler, run, job);
  if (!info && info.error().code != Errc::not_found) return tl::unexpected<Error>(info.error());
  if (!info || sched::is_terminal(info->state)) return std::nullopt;
  return waits_for_agent(*info, run::latest_lease(run));
}

// Cancels a job that waits, and returns when it has ended.
Result<void> end_waiting(sched::Scheduler& scheduler,
                         const run::RunDirectory& run,
                         const sched::JobId& job,
                         const sched::Patience& patience) {
  DTS_ASSIGN(std::optional<bool> waits, waits_if_live(scheduler, run, job));
  const bool is_cancelled = waits == true;
  if (is_cancelled) DTS_TRY(sched::cancel_for_certain(scheduler, job, patience));
  // A job that started at the last moment saves before it ends.
  const auto until = std::chrono::steady_clock::now() + patience.limit;
  while (waits) {
    if (!is_cancelled || std::chrono::steady_clock::now() >= until)
      return fail(
          Errc::rejected,
          fmt::format("job {} is running, so its options cannot change", job),
          fmt::format("have it save and end with `dtsubmit stop {}`, then repeat this", job));
    DTS_ASSIGN(waits, waits_if_live(scheduler, run, job));
    if (waits) std::this_thread::sleep_for(patience.query_interval);
  }
  return {};
}

Result<Resumed> resubmit_amended(sched::Scheduler& scheduler,
                                 const run::RunDirectory& run,
                                 const run::Amendment& amendment,
                                 const std::vector<run::Event>& events,
                                 const sched::Patience& patience) {
  const std::set<sched::JobId> known = jobs_of(events);
  for (const sched::JobId& job : {last_job(run, events), unrecorded_job(scheduler, run, known)})
    if (!job.empty()) DTS_TRY(end_waiting(scheduler, run, job, patience));
  DTS_TRY(run::amend(run, amendment));
  return submit_successor(scheduler, run, known, patience);
}

// True if `event` is a request for the same. If options change, it must have the same `why`, which
// names them; otherwise any request counts.
bool is_same_request(const run::Event& event, const std::string& why, bool changes_options) {
  const auto* const resumed = event.as<run::Resumed>();
  return resumed != nullptr && (!changes_options || resumed->detail == why);
}

// Carries out one of several simultaneous requests to continue the run, and records it.
template <class Order>
Result<Resumed> resume_once(const run::RunDirectory& run,
                            const std::string& why,
                            bool changes_options,
                            std::chrono::system_clock::time_point since,
                            const Order& order) {
  // A queued job that its run cannot record would have no owner.
  DTS_TRY(run::check_writable(run));
  const UniqueFd lock = run::lock_submission(run, k_lock_patience);
  DTS_TRY(run::complete_amendment(run));
  DTS_ASSIGN(const auto events, run::read_ledger(run.ledger()));
  const std::string asked_at = format_utc(since);
  for (const run::Event& event : events)
    if (is_same_request(event, why, changes_options) && event.time >= asked_at &&
        !run::is_cancelled_in_queue(events))  // within the same second
      return Resumed{run::newest_job(events), By::another};
  DTS_ASSIGN(const Resumed resumed, order(events));
  DTS_TRY(run::append_event(run.ledger(), {.job = resumed.job, .what = run::Resumed{why}}));
  return resumed;
}

}  // namespace

Result<sched::JobId> find_job(sched::Scheduler& scheduler, const run::RunDirectory& run) {
  const UniqueFd lock = run::lock_submission(run, std::chrono::milliseconds(0));
  DTS_ASSIGN(const auto events, run::read_ledger(run.ledger()));
  if (const sched::JobId job = run::newest_job(events); !job.empty() || !lock.valid()) return job;
  DTS_ASSIGN(const auto jobs, sched::find_jobs(scheduler, run.script()));
  if (jobs.empty()) return sched::JobId();
  const sched::JobId found = jobs.back().array.empty() ? jobs.back().id : jobs.back().array;
  DTS_TRY(run::append_event(
      run.ledger(),
      {.job = found,
       .what = run::Submitted{"found by its script: the answer to its submission was lost"}}));
  return found;
}

Result<Resumed> run_again(sched::Scheduler& scheduler,
                          const run::RunDirectory& run,
                          const std::string& why,
                          std::chrono::system_clock::time_point since,
                          const sched::Patience& patience) {
  return resume_once(run, why, false, since, [&](const std::vector<run::Event>& events) {
    return put_back(scheduler, run, events, patience);
  });
}

Result<Resumed> run_again_with(sched::Scheduler& scheduler,
                               const run::RunDirectory& run,
                               const run::Amendment& amendment,
                               const std::string& why,
                               std::chrono::system_clock::time_point since,
                               const sched::Patience& patience) {
  return resume_once(run, why, true, since, [&](const std::vector<run::Event>& events) {
    return resubmit_amended(scheduler, run, amendment, events, patience);
  });
}

}  // namespace dts::launch
