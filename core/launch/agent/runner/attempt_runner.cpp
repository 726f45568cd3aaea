// SPDX-License-Identifier: Apache-2.0
#include "core/launch/agent/runner/attempt_runner.hpp"

#include "core/base/files/segment_folder.hpp"
#include "core/base/os/log.hpp"
#include "core/base/os/wait.hpp"

#include <fmt/format.h>

#include <array>
#include <csignal>

namespace dts::launch {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr seconds k_launcher_patience{3};
constexpr seconds k_orphan_patience{5};
constexpr seconds k_facts_patience{3};
constexpr seconds k_answer_patience{5};
constexpr seconds k_controller_patience{120};  // a restart takes far less
constexpr seconds k_ask_again{3};

}  // namespace

AttemptRunner::AttemptRunner(RunnerSettings settings)
    : settings_(std::move(settings)),
      attempt_(settings_.attempt, Clock::now()),
      launcher_(settings_),
      connections_(
          settings_.attempt, attempt_, [this](const Notice& notice) { on_notice(notice); }),
      scheduler_(settings_, attempt_),
      questions_(settings_, attempt_, scheduler_),
      directory_(settings_, attempt_, Clock::now()) {}

Result<run::Outcome> AttemptRunner::run() {
  DTS_TRY(connections_.open());
  DTS_TRY(launcher_.start());
  DTS_ASSIGN(topo::NodeTopology topology, settings_.topology.get());  // long before the first rank
  attempt_.set_topology(std::move(topology));
  wait_for_facts();
  while (!attempt_.outcome())
    poll_once(attempt_.stopping() ? milliseconds(100) : milliseconds(250));
  connections_.deliver();
  confirm_cause();
  // Whatever the programs reported, their results are lost.
  if (!directory_.is_there())
    return run::Outcome{
        run::Cause::run_vanished, exit_code(Errc::io), run::vanished_words(settings_.attempt.run)};
  return *attempt_.outcome();
}

// The scheduler's addresses usually arrive long before the first rank does.
void AttemptRunner::wait_for_facts() {
  scheduler_.begin_attempt();
  const Time until = Clock::now() + k_facts_patience;
  while (!scheduler_.facts_known() && Clock::now() < until) poll_once(milliseconds(20));
}

void AttemptRunner::poll_once(milliseconds limit) {
  std::array<pollfd, 4> fds{{{settings_.signals, POLLIN, 0},
                             {connections_.listener(), POLLIN, 0},
                             {scheduler_.event_fd(), POLLIN, 0},
                             {connections_.ready(), POLLIN, 0}}};
  if (!wait_for_any(fds, Clock::now() + limit)) return;
  // Messages are read before lost connections are handled, and ranks before the launcher's exit,
  // because the former give the reasons for the latter.
  if (fds[1].revents != 0) connections_.accept();
  if (fds[1].revents != 0 || fds[3].revents != 0) connections_.serve();
  if (fds[0].revents != 0)
    while (const auto signal = read_sent_signal(settings_.signals)) on_signal(*signal);
  if (fds[2].revents != 0) scheduler_.take();
  tick();
  connections_.deliver();
}

void AttemptRunner::on_signal(const SentSignal& signal) {
  switch (signal.number) {
    case SIGCHLD:
      return on_children();
    case SIGCONT:
      return;
    case SIGUSR1:
      log("the time limit is near: asking every rank to save");
      attempt_.on_stop(run::Cause::time_limit, Time::max(), "the time limit is near", Clock::now());
      break;
    case k_stop_request:
      // A user's request has no deadline of its own; the job's time limit arrives as SIGTERM.
      stop_asked_ = signal.value == k_of_another_part ? run::k_asked_by_part : run::k_asked_by_user;
      log("signal {}: {}: asking every rank to save", signal.number, stop_asked_);
      attempt_.on_stop(run::Cause::stopped, Time::max(), stop_asked_, Clock::now());
      break;
    default:
      on_end_signal(signal);
  }
  scheduler_.ask();
}

void AttemptRunner::on_end_signal(const SentSignal& sent) {
  const int signal = sent.number;
  const Time now = Clock::now();
  if (signal == SIGINT) {
    if (!interrupts_.add(sent.value)) return;
    if (interrupts_.count() > 1)
      attempt_.on_stop(run::Cause::stopped, now, "interrupted twice", now);
  }
  kill_imminent_ = kill_imminent_ || signal == SIGTERM;
  // Users stop a job with k_stop_request; only the scheduler knows the reason for a SIGTERM.
  const bool by_person = settings_.local || signal == SIGINT;
  const run::Cause cause = by_person ? run::Cause::stopped : run::Cause::signalled;
  const seconds wait = scheduler_.kill_wait();
  log("signal {}: asking every rank to save, {} s at most", signal, wait.count());
  const Time kill_at = settings_.local ? Time::max() : now + time_to_save(wait, seconds(2));
  attempt_.on_stop(cause, kill_at, fmt::format("signal {}", signal), now);
}

void AttemptRunner::on_children() {
  const LauncherProcess::Ended ended = launcher_.reap();
  if (ended.launcher) attempt_.on_launcher_exit(*ended.launcher, Clock::now());
  if (!ended.sentinel) return;
  // A preemption's signal may have ended the sentinel before it could listen or report.
  scheduler_.ask();
  if (!attempt_.stopping() && !attempt_.outcome()) launcher_.start_sentinel();
}

// When a preemption's grace time begins, Slurm signals the job's steps, not its batch script.
void AttemptRunner::on_notice(const Notice& notice) {
  if (attempt_.outcome()) return;
  // The sentinel has begun to listen. The job's record shows whether there was an earlier signal.
  if (notice.signal == 0) return scheduler_.ask();
  log("the step on {} got signal {}: asking every rank to save", notice.node, notice.signal);
  on_step_signal(notice.signal, fmt::format("signal {} to the job's steps", notice.signal));
}

void AttemptRunner::on_step_signal(int signal, const std::string& detail) {
  scheduler_.note_step_signal();
  attempt_.on_step_signal(
      signal == SIGINT ? run::Cause::stopped : run::Cause::signalled, detail, Clock::now());
  scheduler_.ask();
}

void AttemptRunner::tick() {
  const Time now = Clock::now();
  attempt_.on_tick(now);
  scheduler_.on_tick(now);
  if (const auto left = scheduler_.time_left()) attempt_.on_time_left(*left, now);
  if (const auto warning = scheduler_.take_warning()) {
    log("{}: asking every rank to save", *warning);
    attempt_.on_stop(run::Cause::time_limit, Time::max(), *warning, now);
  }
  questions_.ask();
  for (const std::string& note : attempt_.take_notes()) log("{}", note);
  if (const auto signalled = attempt_.take_signalled(); signalled && !attempt_.outcome()) {
    const auto [rank, signal] = *signalled;
    log("rank {} got signal {} from outside: asking every rank to save", rank, signal);
    on_step_signal(signal, fmt::format("signal {} at rank {}", signal, rank));
  }
  if (attempt_.take_started()) on_started(now);
  connections_.deliver();  // first: the programs' time to save is running
  tell_news();
  connections_.drop_silent(now);
  directory_.poll(now);
}

void AttemptRunner::on_started(Time now) {
  if (const auto recorded = settings_.on_started(attempt_); !recorded) {
    log("{}", recorded.error().message);
    attempt_.on_stop(run::Cause::stopped, now, recorded.error().message, now);
  }
  if (launcher_.needs_sentinel()) launcher_.start_sentinel();  // must not delay the ranks
  // Steps that did not exist yet received no signal. From now on all of them listen, and the job's
  // record shows what happened before. Measured: 7 of 37 preemptions in this gap went unnoticed.
  scheduler_.ask();
}

// Passes the attempt's news on to the ledger and the run directory.
void AttemptRunner::tell_news() {
  if (attempt_.take_stop_news()) settings_.on_stop(attempt_);
  for (run::Event& event : attempt_.take_events()) settings_.on_event(std::move(event));
  if (const auto report = attempt_.take_binding())
    if (const auto written = write_binding(settings_.attempt.run, *report); !written)
      log("{}", written.error().message);
}

void AttemptRunner::clean_up() {
  // Ranks still run their nodes' tear-down after their programs have ended.
  const bool tears_down =
      !settings_.attempt.tear_down.empty() || !settings_.attempt.spec.stage.empty();
  const Time until =
      Clock::now() + (tears_down ? k_launcher_patience + k_tear_down_limit : k_launcher_patience);
  while (launcher_.runs() && Clock::now() < until) poll_once(milliseconds(50));
  launcher_.kill();
  // Orphans of a killed rank process or mpirun are reparented to us and must not run beside the
  // next attempt. SIGTERM comes first, because it makes srun end its step on the other nodes,
  // whereas a killed srun leaves the step behind, which holds its cores so that no other step can
  // start.
  [[maybe_unused]] const bool any = launcher_.signal_orphans(SIGTERM);
  const Time orphans_until = Clock::now() + k_orphan_patience;
  while (launcher_.signal_orphans(0) && Clock::now() < orphans_until) poll_once(milliseconds(20));
  launcher_.kill_orphans();
  remove_left_segments(k_shared_memory);
}

// The record that distinguishes preemption, cancel and requeue may be older than the end, so ask
// once more. If the reason for a stop is unknown, wait for an unreachable controller, because it
// may be a preemption, and Slurm 22.05 to 23.11 does not requeue a job that ends before its grace
// time does.
void AttemptRunner::confirm_cause() {
  const run::Cause cause = attempt_.outcome()->cause;
  if (!scheduler_.is_there() || cause == run::Cause::completed) return;
  scheduler_.forget_job();
  scheduler_.ask();
  const bool unexplained = cause == run::Cause::stopped || cause == run::Cause::signalled;
  const Time asked = Clock::now();
  const Time until = asked + (unexplained && scheduler_.has_answered() ? k_controller_patience
                                                                       : k_answer_patience);
  Time ask_again = asked + k_ask_again;
  while (!scheduler_.job() && Clock::now() < until) {
    poll_once(milliseconds(50));
    if (Clock::now() < ask_again) continue;
    ask_again = Clock::now() + k_ask_again;
    scheduler_.ask();
  }
}

}  // namespace dts::launch
