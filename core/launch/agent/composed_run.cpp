// SPDX-License-Identifier: Apache-2.0
#include "core/launch/agent/composed_run.hpp"

#include "core/base/exit_codes.hpp"
#include "core/base/net/ephemeral_ports.hpp"
#include "core/base/net/net.hpp"
#include "core/base/os/log.hpp"
#include "core/base/os/wait.hpp"
#include "core/launch/agent/part_variables.hpp"
#include "core/launch/job/classify.hpp"
#include "core/plan/composition.hpp"
#include "core/run/directory/parts.hpp"
#include "core/run/ledger/events.hpp"
#include "core/spec/parts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <csignal>
#include <functional>
#include <utility>

namespace dts::launch {
namespace {

using std::chrono::seconds;

constexpr std::chrono::milliseconds k_tick{200};
constexpr seconds k_role_patience{120};   // for a role to save when another role ends it
constexpr seconds k_server_patience{30};  // for a role with nothing left to do
constexpr unsigned k_most_vanished = 3;   // agents of parts that may vanish in one job

bool have_work(const std::vector<PartAgent*>& parts) {
  return std::any_of(parts.begin(), parts.end(), std::mem_fn(&PartAgent::has_work));
}

}  // namespace

Result<void> ComposedRun::note(run::Event event) {
  const unsigned own = attempt_ > 0 ? attempt_ : run::latest_attempt(run_);
  note_event(ledger_, job_, own, std::move(event));
  return {};
}

Result<void> ComposedRun::begin() {
  DTS_ASSIGN(const run::TakenAttempt taken, take_attempt(job_));
  attempt_ = taken.number;
  DTS_TRY(run::sync_attempt(run_, attempt_));
  return note({.what = run::AttemptStarted{.nodes = job_.allocation.nodes}});
}

Result<void> ComposedRun::read_parts() {
  const auto folders = run::parts_of(run_);
  const auto& parts = spec::parts_of(job_.spec);
  if (folders.size() != parts.size())
    return fail(Errc::invalid,
                fmt::format("{} names {} parts, but there are {} folders of parts",
                            run_.spec(),
                            parts.size(),
                            folders.size()));
  std::vector<plan::Plan> plans;
  for (const auto& folder : folders) {
    DTS_ASSIGN(plan::Plan plan, read_plan(folder.run));
    plans.push_back(std::move(plan));
  }
  const bool are_roles = !job_.spec.roles.empty();
  for (std::size_t i = 0; i < parts.size(); ++i) {
    auto nodes = options_.local ? job_.allocation.nodes
                                : plan::nodes_of_part(plans, are_roles, i, job_.allocation.nodes);
    parts_.emplace_back(parts[i],
                        words_of(job_.spec, parts[i]),
                        folders[i].run,
                        plans[i],
                        std::move(nodes),
                        are_roles && parts[i].on_failure == spec::OnFailure::all);
    DTS_TRY(parts_.back().resume_after(ledger_.events(), options_.local));
  }
  return {};
}

Result<Variables> ComposedRun::shared_variables() {
  std::map<std::string, std::string> addresses;
  if (watch_ && !job_.spec.roles.empty()) addresses = node_addresses(*watch_);
  if (options_.local) addresses[job_.allocation.node] = "127.0.0.1";
  std::vector<PartPlace> places;
  for (const PartAgent& part : parts_)
    places.push_back({part.part().name, part.run().path, part.nodes(), 0});
  if (!job_.spec.roles.empty()) choose_ports(run_.path, attempt_, places);
  return part_variables(run_, !job_.spec.roles.empty(), places, addresses);
}

Variables ComposedRun::variables_of(const PartAgent& part) const {
  Variables variables = shared_;
  variables.emplace_back(job_.spec.roles.empty() ? "DTSUBMIT_STEP" : "DTSUBMIT_ROLE",
                         part.part().name);
  return variables;
}

bool ComposedRun::is_ending() const {
  return stop_asked_ || end_signal_;
}

// A server goes on until the others have saved, unless there is no time for that: Slurm's SIGTERM
// is followed by a kill, and whoever asks again does not want to wait.
void ComposedRun::on_signal(const SentSignal& signal, const std::vector<PartAgent*>& parts) {
  const int number = signal.number;
  if (number == SIGCHLD || number == SIGCONT) return;
  if (number == SIGINT && !interrupts_.add(signal.value)) return;
  for (PartAgent* part : parts) part->stop_waiting();
  const bool to_all = number == SIGTERM || is_ending() || !have_work(parts);
  log("signal {}: passed on to every part that {}", number, to_all ? "runs" : "ends by itself");
  if (number == k_stop_request && !std::exchange(stop_asked_, true))
    static_cast<void>(
        note({.what = run::StopRequested{run::Cause::stopped, run::k_asked_by_user}}));
  if (number != k_stop_request) end_signal_ = number;
  if (number == SIGTERM) end_.set_kill_imminent(true);
  for (PartAgent* part : parts) {
    if (to_all || part->has_work()) part->signal(number);
    // The second interrupt is the first that a server gets.
    if (interrupts_.count() > 1 && !part->ends_by_itself()) part->request_end(seconds(0));
  }
}

void ComposedRun::listen(const std::vector<PartAgent*>& parts) {
  [[maybe_unused]] const bool ready =
      wait_readable(signals_.get(), std::chrono::steady_clock::now() + k_tick);
  while (const auto signal = read_sent_signal(signals_.get())) on_signal(*signal, parts);
}

// Ends the others if the last part to end has not done its work, and the roles that never end by
// themselves once no other role has work to do.
void ComposedRun::on_end(const std::vector<run::PartEnd>& ends,
                         const std::vector<PartAgent*>& parts) {
  if (run::ends_others(ends.back()))
    for (PartAgent* part : parts)
      if (part->has_work()) part->request_end(k_role_patience);
  if (have_work(parts)) return;
  const bool is_done = std::none_of(ends.begin(), ends.end(), run::ends_others);
  for (PartAgent* part : parts) part->request_end(is_done ? k_server_patience : k_role_patience);
}

// Starts the parts that wait no longer. Errors: only that the first part cannot be started.
Result<void> ComposedRun::start_ready(const std::vector<PartAgent*>& parts) {
  for (PartAgent* part : parts) {
    if (!part->may_start(parts)) continue;
    const auto started = part->start(options_, variables_of(*part));
    if (started) continue;
    for (PartAgent* other : parts) other->request_end(k_server_patience);
    log("{}", started.error().message);
    if (part == parts.front()) return started;
  }
  return {};
}

Result<std::vector<run::PartEnd>> ComposedRun::run_once(const std::vector<PartAgent*>& parts) {
  std::vector<run::PartEnd> ends;
  for (PartAgent* part : parts) part->prepare(shared_);
  while (std::any_of(parts.begin(), parts.end(), std::mem_fn(&PartAgent::is_active))) {
    DTS_TRY(start_ready(parts));
    listen(parts);
    for (PartAgent* part : parts) {
      part->tick();
      auto end = part->reap();
      if (!end) continue;
      // A server may fail because those that used it have saved and ended.
      if (is_ending() && !part->ends_by_itself()) end->end_requested = true;
      ends.push_back(*end);
      if (!end->decided) kill_orphans_of_agents(parts);
      on_end(ends, parts);
    }
  }
  return ends;
}

// Call it if work is left.
Result<run::Verdict> ComposedRun::judge(const std::vector<run::PartEnd>& ends) {
  vanished_ += static_cast<unsigned>(std::count_if(ends.begin(), ends.end(), [](const auto& end) {
    return !end.decided && !end.end_requested;
  }));
  run::Verdict verdict = run::judge_parts(ends, vanished_ < k_most_vanished);
  // A part knows whether its own nodes are down, but not whether those of the others are.
  if (verdict.outcome.cause == run::Cause::requeued) end_.explain(verdict.outcome);
  if (verdict.decision.action != run::Action::done) return verdict;
  if (is_ending()) return ended_between();  // it arrived while a part waited
  return fail(Errc::io, "not every part could be started; the agent's log says why");
}

// Runs the parts side by side, and again whenever one of them needs a restart.
Result<run::Verdict> ComposedRun::run_together(const std::vector<PartAgent*>& parts) {
  for (unsigned restart = 1;; ++restart) {
    DTS_ASSIGN(const auto ends, run_once(unfinished(parts)));
    if (!presence_.is_present_now()) return fail(Errc::io, run::vanished_words(run_));
    if (unfinished(parts).empty()) return verdict_on_all(parts, job_.allocation.job);
    DTS_ASSIGN(run::Verdict verdict, judge(ends));
    if (verdict.decision.action != run::Action::restart) return verdict;
    log("{}", verdict.decision.why);
    const auto until = std::chrono::steady_clock::now() + run::back_off(restart - 1);
    while (!is_ending() && std::chrono::steady_clock::now() < until) listen({});
    if (is_ending()) return ended_between();
  }
}

Result<run::Verdict> ComposedRun::run_all() {
  std::vector<PartAgent*> all;
  for (PartAgent& part : parts_) all.push_back(&part);
  DTS_TRY(note({.what = run::RanksStarted{fmt::format("{} parts", all.size())}}));
  if (!job_.spec.roles.empty()) return run_together(all);
  for (PartAgent* part : all) {
    if (part->is_done()) {
      log("{} is done: skipped", part->words());
      continue;
    }
    if (is_ending()) return ended_between();
    DTS_ASSIGN(run::Verdict verdict, run_together({part}));
    if (verdict.decision.action != run::Action::done) return verdict;
  }
  return run::judge_parts({}, false);
}

// The verdict if no part has decided anything. The job must not end with exit code 0.
run::Verdict ComposedRun::given_up(const Error& failed) {
  const bool damaged = parts_.size() < spec::parts_of(job_.spec).size();
  run::Outcome outcome{damaged ? run::Cause::run_damaged : run::Cause::launch_failed,
                       exit_code(failed.code),
                       failed.message};
  if (!presence_.is_present_now())
    outcome = {run::Cause::run_vanished, exit_code(Errc::io), run::vanished_words(run_)};
  auto decision = run::decide(outcome, {.in_scheduler = !options_.local}, run::default_policy());
  if (decision.action != run::Action::stop)
    decision = {run::Action::stop, outcome.exit_code, "its parts could not be started"};
  return {std::move(outcome), std::move(decision)};
}

// A termination signal that arrives while no part runs can also mean preemption or the time limit.
run::Verdict ComposedRun::ended_between() {
  run::Verdict verdict;
  const int number = end_signal_.value_or(k_stop_request);
  const bool by_person = options_.local || number == SIGINT || number == k_stop_request;
  verdict.outcome = {by_person           ? run::Cause::stopped
                     : number == SIGUSR1 ? run::Cause::time_limit
                                         : run::Cause::signalled,
                     k_checkpointed,
                     fmt::format("signal {} while no part ran", number)};
  run::Circumstances now = run::count_failures(ledger_.events());
  now.in_scheduler = !options_.local;
  now.may_requeue = job_.spec.requeue;
  if (stop_asked_) now.stop_asked = run::k_asked_by_user;
  now.already_requeued = end_.explain(verdict.outcome);
  verdict.decision = run::decide(verdict.outcome, now, job_.policy);
  return verdict;
}

Result<int> ComposedRun::carry_out(const run::Verdict& verdict) {
  const run::Decision& decision = verdict.decision;
  DTS_TRY(note({.what = run::ended_event(verdict.outcome)}));
  log("decision: {}: {}", run::to_string(decision.action), decision.why);
  DTS_TRY(end_.note_decision(decision));
  terminal_.restore();
  log("attempt {}: {} ({}); {}: {}",
      attempt_,
      run::to_string(verdict.outcome.cause),
      verdict.outcome.detail,
      run::to_string(decision.action),
      decision.why);
  if (decision.action == run::Action::requeue || decision.action == run::Action::resubmit)
    return end_.return_job(verdict.outcome, decision);
  if (decision.action == run::Action::wait) end_.wait_for_the_end();
  if (decision.action == run::Action::stop && stop_asked_ && watch_)
    if (const auto job = watch_->wait_job(k_record_patience); job && is_requeued(*job))
      end_.cancel();
  return decision.exit_code;
}

Result<int> ComposedRun::run() {
  terminal_.keep();
  if (!options_.local) watch_ = watch_job(job_.allocation, job_.plan.spares > 0);
  end_.use(watch_.get(), true);
  DTS_ASSIGN(const std::optional<int> stopped, end_.end_stopped());
  if (stopped) return *stopped;
  DTS_TRY(begin());
  auto verdict = read_parts()
                     .and_then([this] { return shared_variables(); })
                     .and_then([this](Variables variables) {
                       shared_ = std::move(variables);
                       return run_all();
                     });
  if (!verdict) verdict = given_up(verdict.error());
  return carry_out(*verdict);
}

}  // namespace dts::launch
