// SPDX-License-Identifier: Apache-2.0
#include "core/launch/agent/agent.hpp"

#include "core/base/files/files.hpp"
#include "core/base/net/net.hpp"
#include "core/base/os/environment.hpp"
#include "core/base/os/log.hpp"
#include "core/base/os/signals.hpp"
#include "core/base/text/array_indices.hpp"
#include "core/base/text/text.hpp"
#include "core/launch/agent/after/start_condition.hpp"
#include "core/launch/agent/attempt_loop.hpp"
#include "core/launch/agent/composed_run.hpp"
#include "core/launch/agent/log_links.hpp"
#include "core/launch/agent/runner/storage_patience.hpp"
#include "core/launch/job/chain.hpp"
#include "core/launch/job/element.hpp"
#include "core/plugin/scheduler.hpp"
#include "core/run/directory/file_lock.hpp"
#include "core/run/index/find.hpp"
#include "core/run/ledger/events.hpp"
#include "core/run/ledger/history.hpp"
#include "core/spec/parts.hpp"

#include <fmt/format.h>
#include <sys/prctl.h>

#include <csignal>

namespace dts::launch {
namespace {

constexpr std::chrono::seconds k_request_patience{30};

// The run directory may have been written on another machine, moments ago or on a disk of its own.
// If its folder is here, but nothing in it, the file system of this node may lag behind: waits for
// it, since Slurm would not start a job again that failed.
Result<run::RunDirectory> run_on_node(const AgentOptions& options, int signals) {
  constexpr std::chrono::seconds k_lag{30};
  const std::string& folder = options.run_directory;
  auto run = run::open_run(folder);
  const auto is_missing = [&] { return !run && run.error().code == Errc::not_found; };
  if (options.local || options.part || !is_missing()) return run;
  for (auto waited = k_lag; is_missing() && exists(folder) && waited.count() > 0; --waited) {
    if (waited == k_lag) log("this node sees no run in {} yet: waiting for its files", folder);
    if (!waits_unasked(signals, std::chrono::seconds(1))) break;
    run = run::open_run(folder);
  }
  if (!is_missing()) return run;
  return fail(Errc::not_found,
              fmt::format("{} does not see the run directory {}", host_name(), folder),
              "it must be on a file system that all nodes share, and not in a folder of which each "
              "job gets its own, often /tmp and /dev/shm: submit again from a shared folder, or "
              "with --runs FOLDER");
}

// In a job array, all elements share one script.
Result<run::RunDirectory> run_of_job(const AgentOptions& options, int signals) {
  DTS_ASSIGN(run::RunDirectory run, run_on_node(options, signals));
  if (!is_sweep(run)) return run;
  const auto index = parse_number(getenv_lookup("SLURM_ARRAY_TASK_ID").value_or(""));
  const auto array = JobId::parse(getenv_lookup("SLURM_ARRAY_JOB_ID").value_or(""));
  if (!index || *index > k_highest_index || !array)
    return fail(Errc::invalid,
                fmt::format("{} is a sweep, and this job is not one of its elements: "
                            "SLURM_ARRAY_TASK_ID and SLURM_ARRAY_JOB_ID are not set",
                            run.path),
                "name an element's run directory");
  DTS_ASSIGN(const sweep::Sweep sweep, read_sweep(run));
  return open_element(run, sweep, static_cast<unsigned>(*index), *array);
}

// True if this job is the next job of a chain whose run stopped before the job could be cancelled.
bool is_left_over(const run::RunDirectory& run) {
  const auto chain = read_chain(run);
  return chain && !chain->waiting.empty() && chain->waiting == own_job(getenv_lookup);
}

// The decision that ended the run, if it was made in this very job and no user has continued the
// run since; otherwise null.
const run::Decided* end_in_own_job(const std::vector<run::Event>& events) {
  const run::Event* last = run::final_decision(events);
  return last != nullptr && last->job == own_job(getenv_lookup) ? last->as<run::Decided>()
                                                                : nullptr;
}

// Slurm may start a job again that has ended, see sched::ConfigInfo::restarts_ended_jobs. Returns
// the decision that ended the run in this job, if Slurm may have done so; otherwise nullopt. If
// Slurm does not answer, the ledger decides.
std::optional<run::Decided> ended_before(const run::RunDirectory& run,
                                         const std::vector<run::Event>& events) {
  const run::Decided* end = end_in_own_job(events);
  if (end == nullptr) return std::nullopt;
  // `dtsubmit requeue` records its request once Slurm has accepted it.
  const UniqueFd lock = run::lock_submission(run, k_request_patience);
  const auto now = run::read_ledger(run.ledger());
  if (now) end = end_in_own_job(*now);
  if (end == nullptr) return std::nullopt;
  const auto config =
      plugin::load_scheduler(plugin::scheduler_name(), true).and_then([](const auto& scheduler) {
        return scheduler->config();
      });
  if (config && !config->restarts_ended_jobs) return std::nullopt;
  return *end;
}

// If a run's own files do not show what to do next, the run is over. Puts the reason where users
// look for it.
void note_unreadable(const run::RunDirectory& run, const Error& failed, bool local) {
  const auto before = run::read_ledger(run.ledger());
  const bool damaged = !read_spec(run) || !read_plan(run);
  for (run::Event& event :
       run::events_of_failure(before.value_or(std::vector<run::Event>()),
                              failed,
                              0,
                              run::latest_attempt(run),
                              !local,
                              damaged ? run::Cause::run_damaged : run::Cause::launch_failed)) {
    event.job = local ? JobId() : own_job(getenv_lookup);
    if (const auto noted = run::append_event(run.ledger(), std::move(event)); !noted)
      log("{}", noted.error().message);
  }
}

// If the end is missing from the ledger, only the job's exit code shows why the run stopped.
Result<int> code_of_job(const AgentOptions& options, Result<int> code, bool is_recorded) {
  const bool is_job = !options.local && !options.part;
  return is_recorded || !is_job || !code || *code == 0 ? std::move(code) : exit_code(Errc::io);
}

Result<int> make_attempts(const AgentOptions& options, Assignment job, UniqueFd signals) {
  AttemptLoop attempts(options, std::move(job), std::move(signals));
  auto code = attempts.run().map_error(
      [&attempts](Error failed) { return attempts.explained(std::move(failed)); });
  attempts.restore_terminal();  // errors go to the terminal or slurm-<job>.log as well as to the
                                // attempt's log
  const bool is_recorded = attempts.close(code ? nullptr : &code.error());
  return code_of_job(options, std::move(code), is_recorded);
}

Result<int> run_parts(const AgentOptions& options, Assignment job, UniqueFd signals) {
  ComposedRun parts(options, std::move(job), std::move(signals));
  auto code = parts.run();
  return code_of_job(options, std::move(code), parts.close());
}

}  // namespace

Result<int> run_agent(const AgentOptions& options) {
  ::prctl(PR_SET_CHILD_SUBREAPER, 1);
  DTS_ASSIGN(UniqueFd signals,
             take_signals({SIGTERM, SIGINT, SIGHUP, SIGUSR1, SIGUSR2, SIGCONT, SIGCHLD}));
  StoragePatience patience(signals.get());
  DTS_ASSIGN(const run::RunDirectory run,
             call_patiently(patience, [&] { return run_of_job(options, signals.get()); }));
  // Slurm requeues a job whose batch script has vanished, even if the run is finished.
  if (const auto ledger =
          call_patiently(patience, [&] { return run::load_ledger(run.ledger()); })) {
    if (const auto damage = run::damage_words(*ledger, run.ledger()); !damage.empty())
      log("{}", damage);
    if (run::is_done(ledger->events)) {
      log("{} is complete: nothing is left to do", run.path);
      return 0;
    }
    if (!options.local && run::final_decision(ledger->events) != nullptr && is_left_over(run)) {
      log("{} has been stopped: nothing is left to do", run.path);
      return 0;
    }
    const bool is_job = !options.local && !options.part;
    if (const auto end = is_job ? ended_before(run, ledger->events) : std::nullopt) {
      log("{} has ended in this job ({}), and Slurm started it again by itself: nothing runs; "
          "`dtsubmit requeue` continues the run",
          run.path,
          end->detail);
      return end->exit_code.value_or(1);
    }
  }
  if (!options.local && !options.part) link_own_logs(run);
  auto job = call_patiently(patience, [&] { return read_assignment(run, options.local); });
  if (!job) {
    note_unreadable(run, job.error(), options.local);
    return tl::unexpected<Error>(std::move(job).error());
  }
  if (!options.local) {
    auto waits = wait_on(*job);
    if (!waits) note_unreadable(run, waits.error(), false);
    DTS_ASSIGN(const std::optional<int> code, std::move(waits));
    if (code) return *code;
  }
  if (!spec::parts_of(job->spec).empty())
    return run_parts(options, *std::move(job), std::move(signals));
  return make_attempts(options, *std::move(job), std::move(signals));
}

}  // namespace dts::launch
