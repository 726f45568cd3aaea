// SPDX-License-Identifier: Apache-2.0
#include "core/launch/agent/agent.hpp"

#include "core/base/os/environment.hpp"
#include "core/base/os/log.hpp"
#include "core/base/os/signals.hpp"
#include "core/base/text/text.hpp"
#include "core/launch/agent/recorded_attempt.hpp"
#include "core/launch/health/quarantine.hpp"
#include "core/launch/job/classify.hpp"
#include "core/launch/job/slurm_commands.hpp"
#include "core/launch/job/stop_way.hpp"
#include "core/launch/job/successor.hpp"
#include "core/plugin/scheduler.hpp"
#include "core/run/directory/presence.hpp"
#include "core/run/event/event_line.hpp"
#include "core/run/index/find.hpp"
#include "core/run/index/index.hpp"
#include "core/run/ledger/events.hpp"
#include "core/run/ledger/history.hpp"
#include "core/run/summary/goodput.hpp"
#include "core/topo/discover.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <future>
#include <map>
#include <memory>
#include <optional>

namespace dts::launch {
namespace {

using std::chrono::seconds;

constexpr seconds k_end_by_scheduler{90};
constexpr seconds k_record_patience{15};  // libslurm's own with a controller that is away

// Where the time of the run went, for the last word of its ledger.
std::map<std::string, double> time_use(const run::RunDirectory& run,
                                       const std::vector<run::Event>& events) {
  const run::RunSummary summary = run::summarise(events, run::read_metrics(run));
  return run::in_seconds(run::account(events, summary, std::chrono::system_clock::now()).run);
}

class Agent {
 public:
  Agent(const AgentOptions& options, Assignment job, UniqueFd signals)
      : options_(options),
        job_(std::move(job)),
        signals_(std::move(signals)),
        pool_({job_.allocation.nodes,
               plan_.nodes,
               {run_.path, plan_.ntasks_per_node, plan_.gpus_per_node, job_.spec.memory_mib},
               job_.spec.preflight,
               options_.dtsubmit,
               run_}) {}

  Result<int> run();

  void restore_terminal() const { ::dup2(terminal_.get(), STDERR_FILENO); }

  // A run directory that is not there any more explains whatever failed.
  [[nodiscard]] Error explained(Error failed);

  // The run's last word where it ended without a decision; what never got into the ledger is said.
  void close(const Error* failed);

 private:
  [[nodiscard]] Result<int> come_back(const run::Outcome& outcome, const run::Decision& decision);
  [[nodiscard]] Result<int> returned(const run::Outcome& outcome,
                                     const Result<JobWatch::Returned>& answer);
  [[nodiscard]] Result<void> note_decision(const run::Decision& decision);
  [[nodiscard]] Result<int> end_here(const run::Outcome& outcome, std::string why);
  void cancel();
  void watch_the_job();
  [[nodiscard]] Result<std::optional<int>> carry_out(const AttemptEnd& ended,
                                                     const run::Decision& decision);
  [[nodiscard]] Result<std::optional<int>> pause(const AttemptEnd& ended, seconds delay);
  [[nodiscard]] Result<std::optional<int>> end_in_pause(int signal);
  void note_successor(sched::JobId job) const;
  [[nodiscard]] run::Decision decide(const AttemptEnd& ended,
                                     const std::vector<run::Event>& events) const;
  void wait_for_the_end();
  [[nodiscard]] Result<AttemptEnd> make_attempt();

  const AgentOptions& options_;
  const Assignment job_;
  const run::RunDirectory& run_ = job_.run;
  const plan::Plan& plan_ = job_.plan;
  UniqueFd signals_;
  NodePool pool_;
  run::LedgerWriter ledger_{run_.ledger()};
  run::Presence presence_{run_};
  UniqueFd terminal_;  // standard error as it was; attempts log into their own folder
  std::unique_ptr<JobWatch> watch_;
  std::optional<RecordedAttempt> attempt_;  // the newest
  bool told_to_end_ = false;                // by the scheduler
  bool disk_was_full_ = false;              // at the end of the last attempt
};

// The job must stay alive until the scheduler ends it: a batch script that exits during a
// preemption's grace time is never requeued by Slurm 22.05 to 23.11.
void Agent::wait_for_the_end() {
  told_to_end_ =
      told_to_end_ || wait_for_one_of(signals_.get(), {SIGTERM}, k_end_by_scheduler).has_value();
}

Result<int> Agent::come_back(const run::Outcome& outcome, const run::Decision& decision) {
  JobWatch::Return how;
  how.requeue = decision.action == run::Action::requeue;
  how.exclude = decision.exclude;
  how.nodes = plan_.nodes + plan_.spares;
  how.avoid = nodes_in_quarantine();  // other runs may have put some there meanwhile
  auto successor = make_successor(run_);
  if (successor) how.successor = *std::move(successor);
  if (!successor && !how.requeue) return tl::unexpected<Error>(std::move(successor).error());
  watch_->come_back(std::move(how));
  return returned(outcome, watch_->wait_returned());
}

Result<void> Agent::note_decision(const run::Decision& decision) {
  run::Decided decided = run::decided_event(decision);
  if (run::ends_run(decision.action)) decided.seconds = time_use(run_, ledger_.events());
  return attempt_->note({.what = std::move(decided)});
}

// What was decided could not be done: the run stops.
Result<int> Agent::end_here(const run::Outcome& outcome, std::string why) {
  DTS_TRY(note_decision({run::Action::stop, outcome.exit_code, std::move(why)}));
  return outcome.exit_code;
}

Result<int> Agent::returned(const run::Outcome& outcome, const Result<JobWatch::Returned>& answer) {
  if (!answer) {
    log("requeue: {}", answer.error().message);
    auto code =
        end_here(outcome, "the scheduler refused to run the job again: " + answer.error().message);
    // Where nobody could be asked Slurm may still want it back: as long as this process lives.
    if (answer.error().code != Errc::rejected) wait_for_the_end();
    return code;
  }
  if (!answer->avoided.empty()) log("in quarantine, not asked for: {}", answer->avoided);
  const bool same = answer->job == job_.allocation.job;
  run::Event event{.job = answer->job, .what = run::Resubmitted{answer->trouble}};
  if (same) event.what = run::Requeued{answer->trouble};
  DTS_TRY(attempt_->note(std::move(event)));
  if (same)
    wait_for_the_end();
  else
    note_successor(answer->job);
  return 0;
}

void Agent::note_successor(sched::JobId job) const {
  log("job {} continues this run", job);
  if (const auto noted = run::add_job_to_index(run_, job); !noted)
    log("not in the index of runs: {}", noted.error().message);
}

// The scheduler has put the job back by itself, but nobody wants it to run again.
void Agent::cancel() {
  JobWatch::Return how;
  how.cancel = true;
  watch_->come_back(std::move(how));
  if (const auto gone = watch_->wait_returned(); !gone)
    log("the job is not cancelled: {}", gone.error().message);
}

run::Decision Agent::decide(const AttemptEnd& ended, const std::vector<run::Event>& events) const {
  run::Circumstances now = run::count_failures(events);
  now.in_scheduler = !options_.local;
  now.may_requeue = job_.spec.requeue;
  now.has_spares = pool_.has_spares();
  now.already_requeued = ended.requeued;
  now.stop_asked = ended.stop_asked;
  return run::decide(ended.outcome, now, job_.policy);
}

void Agent::watch_the_job() {
  const sched::JobId job = job_.allocation.job;
  const unsigned restarts = job_.allocation.restart_count;
  // Tried in a child first: a configuration that libslurm refuses would end this process.
  watch_ = std::make_unique<JobWatch>([] { return plugin::load_scheduler("slurm", true); },
                                      job,
                                      plan_.spares > 0,
                                      [job, restarts] { return slurm_by_commands(job, restarts); });
}

// The exit code where the run ends with that, at least for this job; nullopt: the next attempt.
Result<std::optional<int>> Agent::carry_out(const AttemptEnd& ended,
                                            const run::Decision& decision) {
  switch (decision.action) {
    case run::Action::stop:
      if (ended.requeued && ended.stop_asked) cancel();
      [[fallthrough]];
    case run::Action::done:
      return decision.exit_code;
    case run::Action::restart:
      return pause(ended, decision.delay);
    case run::Action::requeue:
    case run::Action::resubmit:
      return come_back(ended.outcome, decision);
    case run::Action::wait:
      break;
  }
  wait_for_the_end();
  return 0;
}

// Before the next attempt.
Result<std::optional<int>> Agent::pause(const AttemptEnd& ended, seconds delay) {
  if (delay.count() > 0) log("waiting {} s", delay.count());
  const std::optional<int> signal =
      wait_for_one_of(signals_.get(), {SIGTERM, SIGINT, SIGUSR1, k_stop_request}, delay);
  if (!signal) return std::nullopt;
  if (watch_ && (*signal == SIGTERM || *signal == SIGUSR1)) return end_in_pause(*signal);
  const char* by =
      *signal == k_stop_request ? "asked for by `dtsubmit stop`" : "stopped by a signal";
  return end_here(ended.outcome,
                  fmt::format("{} before the next attempt; `dtsubmit requeue` continues it", by));
}

// Told to end while no rank runs: that too may be a preemption, or the time limit.
Result<std::optional<int>> Agent::end_in_pause(int signal) {
  told_to_end_ = told_to_end_ || signal == SIGTERM;
  const std::string detail = fmt::format("signal {} while no rank ran", signal);
  DTS_TRY(attempt_->note({.what = run::Warning{detail}}));
  AttemptEnd ended;
  ended.told_to_end = signal == SIGTERM;
  ended.outcome = {signal == SIGUSR1 ? run::Cause::time_limit : run::Cause::signalled, 85, detail};
  if (const auto job = watch_->wait_job(k_record_patience)) {
    ended.outcome = explain_by_job(ended.outcome, *job, {job_.allocation.nodes, {}, {}, false});
    ended.requeued = is_requeued(*job);
  }
  const run::Decision decision = decide(ended, ledger_.events());
  DTS_TRY(note_decision(decision));
  log("{} ({}); {}: {}",
      detail,
      run::to_string(ended.outcome.cause),
      run::to_string(decision.action),
      decision.why);
  return carry_out(ended, decision);
}

// One that a full disk does not even let begin is one more that ended so.
Result<AttemptEnd> Agent::make_attempt() {
  const auto begun = attempt_->begin();
  if (begun) {
    auto ended = attempt_->run();
    disk_was_full_ = ended && run::kind_of(ended->outcome.cause) == run::Kind::disk;
    return ended;
  }
  if (!disk_was_full_ || begun.error().code != Errc::io)
    return tl::unexpected<Error>(begun.error());
  AttemptEnd ended;
  ended.outcome = {run::Cause::disk_full, exit_code(Errc::io), begun.error().message};
  DTS_TRY(attempt_->note({.what = run::ended_event(ended.outcome)}));
  return ended;
}

Error Agent::explained(Error failed) {
  [[maybe_unused]] const bool perhaps = presence_.look();
  if (presence_.look()) return failed;
  return {Errc::io, run::vanished_words(run_), ""};
}

void Agent::close(const Error* failed) {
  if (failed != nullptr) {
    const unsigned own = attempt_ ? attempt_->number() : 0;
    const auto cause = presence_.look() ? run::Cause::run_damaged : run::Cause::run_vanished;
    for (run::Event& event :
         run::events_of_failure(ledger_.events(), *failed, own, run::latest_attempt(run_), cause)) {
      event.job = job_.allocation.job;
      [[maybe_unused]] const auto noted = ledger_.append(std::move(event));
    }
  }
  for (const run::Event& event : ledger_.waiting())
    log("not in the ledger: {}", run::to_line(event));
}

Result<int> Agent::run() {
  terminal_.reset(::fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3));
  set_second_log(terminal_.get());
  if (!options_.local) watch_the_job();
  const AttemptContext context{options_,
                               job_,
                               pool_,
                               ledger_,
                               watch_.get(),
                               signals_.get(),
                               std::async(std::launch::async, topo::discover).share()};
  while (true) {
    attempt_.emplace(context);
    DTS_ASSIGN(const AttemptEnd ended, make_attempt());
    told_to_end_ = ended.told_to_end;
    const run::Outcome& outcome = ended.outcome;
    const std::vector<run::Event> events = ledger_.events();
    const run::Decision decision = decide(ended, events);
    log("decision: {}: {}", run::to_string(decision.action), decision.why);
    DTS_TRY(note_decision(decision));
    restore_terminal();
    log("attempt {}: {} ({}); {}: {}",
        attempt_->number(),
        run::to_string(outcome.cause),
        outcome.detail,
        run::to_string(decision.action),
        decision.why);
    if (outcome.rank && !run::is_selected(options_.shown, *outcome.rank))
      print_last_words(run_, attempt_->number(), *outcome.rank);
    DTS_ASSIGN(const std::optional<int> code, carry_out(ended, decision));
    if (code) return *code;
  }
}

sched::JobId job_of_environment() {
  return JobId::parse(getenv_lookup("SLURM_JOB_ID").value_or("")).value_or(JobId());
}

// A run whose own files say no more what to do is over, and says so where people look.
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
  // Slurm requeues a job whose batch daemon has vanished, whatever came of the job.
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
  Agent agent(options, *std::move(job), std::move(signals));
  auto code =
      agent.run().map_error([&agent](Error failed) { return agent.explained(std::move(failed)); });
  agent.restore_terminal();  // an error is for the person or slurm-<job>.log, not only for the
                             // attempt's log
  agent.close(code ? nullptr : &code.error());
  return code;
}

}  // namespace dts::launch
