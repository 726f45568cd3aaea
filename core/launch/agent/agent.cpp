// SPDX-License-Identifier: Apache-2.0
#include "core/launch/agent/agent.hpp"

#include "core/base/os/environment.hpp"
#include "core/base/os/log.hpp"
#include "core/base/os/signals.hpp"
#include "core/base/text/text.hpp"
#include "core/launch/agent/attempt_loop.hpp"
#include "core/run/index/find.hpp"
#include "core/run/ledger/events.hpp"
#include "core/run/ledger/history.hpp"

#include <sys/prctl.h>

#include <csignal>

namespace dts::launch {
namespace {

sched::JobId job_of_environment() {
  return JobId::parse(getenv_lookup("SLURM_JOB_ID").value_or("")).value_or(JobId());
}

// A run whose own files cannot say what to do next is over; the places where people look get the
// reason.
void note_unreadable(const run::RunDirectory& run, const Error& failed, bool local) {
  const auto before = run::read_ledger(run.ledger());
  const bool damaged = !read_spec(run) || !read_plan(run);
  for (run::Event& event :
       run::events_of_failure(before.value_or(std::vector<run::Event>()),
                              failed,
                              0,
                              run::latest_attempt(run),
                              damaged ? run::Cause::run_damaged : run::Cause::launch_failed)) {
    event.job = local ? JobId() : job_of_environment();
    if (const auto noted = run::append_event(run.ledger(), std::move(event)); !noted)
      log("{}", noted.error().message);
  }
}

}  // namespace

Result<int> run_agent(const AgentOptions& options) {
  ::prctl(PR_SET_CHILD_SUBREAPER, 1);
  DTS_ASSIGN(UniqueFd signals,
             take_signals({SIGTERM, SIGINT, SIGHUP, SIGUSR1, SIGUSR2, SIGCONT, SIGCHLD}));
  DTS_ASSIGN(const run::RunDirectory run, run::open_run(options.run_directory));
  // Slurm requeues a job whose batch daemon has vanished, even if the run is finished.
  if (const auto ledger = run::load_ledger(run.ledger())) {
    if (const auto damage = run::damage_words(*ledger, run.ledger()); !damage.empty())
      log("{}", damage);
    if (run::is_done(ledger->events)) {
      log("{} is complete: nothing is left to do", run.path);
      return 0;
    }
  }
  auto job = read_assignment(run, options.local);
  if (!job) {
    note_unreadable(run, job.error(), options.local);
    return tl::unexpected<Error>(std::move(job).error());
  }
  AttemptLoop attempts(options, *std::move(job), std::move(signals));
  auto code = attempts.run().map_error(
      [&attempts](Error failed) { return attempts.explained(std::move(failed)); });
  attempts.restore_terminal();  // errors go to the terminal or slurm-<job>.log as well as to the
                                // attempt's log
  attempts.close(code ? nullptr : &code.error());
  return code;
}

}  // namespace dts::launch
