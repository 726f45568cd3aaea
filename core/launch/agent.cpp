// SPDX-License-Identifier: Apache-2.0
#include "core/launch/agent.hpp"

#include "core/base/files.hpp"
#include "core/base/hash.hpp"
#include "core/base/hostlist.hpp"
#include "core/base/log.hpp"
#include "core/base/process_table.hpp"
#include "core/base/text.hpp"
#include "core/launch/allocation.hpp"
#include "core/launch/attempt_runner.hpp"
#include "core/launch/classify.hpp"
#include "core/launch/identity.hpp"
#include "core/launch/live_output.hpp"
#include "core/launch/net.hpp"
#include "core/launch/node_pool.hpp"
#include "core/launch/quarantine.hpp"
#include "core/launch/signals.hpp"
#include "core/launch/successor.hpp"
#include "core/plan/json.hpp"
#include "core/plugin/scheduler.hpp"
#include "core/run/explain.hpp"
#include "core/run/goodput.hpp"
#include "core/run/history.hpp"
#include "core/run/lease.hpp"
#include "core/run/ledger.hpp"
#include "core/spec/json.hpp"
#include "core/topo/discover.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <poll.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <future>
#include <map>
#include <memory>
#include <optional>

namespace dts::launch {
namespace {

using std::chrono::seconds;

constexpr seconds k_return_answer{150};  // JobWatch tries for 120
constexpr seconds k_end_by_scheduler{90};
constexpr unsigned k_port_candidates = 64;

// As Go has it.
int hang_seconds(const std::optional<std::chrono::seconds>& limit) {
  if (!limit) return 0;
  return *limit == std::chrono::seconds::max() ? -1 : static_cast<int>(limit->count());
}

// Where the time of the run went, for the last word of its ledger.
std::map<std::string, double> time_use(const run::RunDirectory& run,
                                       const std::vector<run::Event>& events) {
  const run::RunSummary summary = run::summarise(events, read_file(run.metrics()).value_or(""));
  return run::in_seconds(run::account(events, summary, std::chrono::system_clock::now()).run);
}

class Agent {
 public:
  Agent(const AgentOptions& options,
        spec::JobSpec spec,
        run::Policy policy,
        plan::Plan plan,
        Allocation allocation,
        UniqueFd signals)
      : options_(options),
        run_{options.run_directory},
        spec_(std::move(spec)),
        policy_(std::move(policy)),
        plan_(std::move(plan)),
        allocation_(std::move(allocation)),
        signals_(std::move(signals)),
        pool_({allocation_.nodes,
               plan_.nodes,
               {run_.path, plan_.ntasks_per_node, plan_.gpus_per_node, spec_.memory_mib},
               spec_.preflight,
               options_.dtsubmit,
               run_}) {}

  Result<int> run();

  void restore_terminal() const { ::dup2(terminal_.get(), STDERR_FILENO); }

 private:
  [[nodiscard]] Result<void> begin_attempt();
  [[nodiscard]] Result<void> choose_nodes();
  [[nodiscard]] Result<run::Outcome> try_attempt(AttemptRunner& runner);
  [[nodiscard]] Result<void> note_unfit(const std::vector<run::UnfitNode>& nodes);
  [[nodiscard]] Result<run::Outcome> run_attempt(AttemptRunner& runner);
  [[nodiscard]] RunnerSettings runner_settings();
  [[nodiscard]] std::vector<std::pair<std::string, std::string>> common_environment() const;
  [[nodiscard]] Result<void> on_started(const Attempt& attempt);
  void on_stop(const Attempt& attempt);
  void on_event(run::Event event);
  [[nodiscard]] Result<int> come_back(const run::Outcome& outcome, const run::Decision& decision);
  [[nodiscard]] Result<int> returned(const run::Outcome& outcome,
                                     const Result<JobWatch::Returned>& answer);
  [[nodiscard]] Result<int> end_here(const run::Outcome& outcome, std::string why);
  [[nodiscard]] run::Decision decide(const run::Outcome& outcome,
                                     const AttemptRunner& runner,
                                     const std::vector<run::Event>& events) const;
  void wait_for_the_end();
  [[nodiscard]] Result<void> note(run::Event event);
  void join_beginning();

  const AgentOptions& options_;
  run::RunDirectory run_;
  spec::JobSpec spec_;
  run::Policy policy_;
  plan::Plan plan_;
  Allocation allocation_;
  UniqueFd signals_;
  NodePool pool_;
  NodeChoice choice_;                    // for this attempt
  std::vector<std::string> rank_nodes_;  // by rank, once all have started
  UniqueFd terminal_;  // standard error as it was; attempts log into their own folder
  std::unique_ptr<JobWatch> watch_;
  std::shared_future<Result<topo::NodeTopology>> topology_ =
      std::async(std::launch::async, topo::discover).share();
  std::optional<LiveOutput> output_;  // for `dtsubmit run`
  unsigned number_ = 0;
  run::FailureRecord record_;  // of the attempts before
  bool told_to_end_ = false;
  std::future<Result<void>> beginning_;  // the attempt's first records on their way to the disk
  Result<void> begun_;                   // how that went
};

Result<void> Agent::note(run::Event event) {
  event.attempt = number_;
  if (event.job == 0) event.job = allocation_.job;  // else of its successor
  return run::append_event(run_.ledger(), std::move(event));
}

Result<void> Agent::begin_attempt() {
  const auto process = process_info(::getpid());
  const run::Lease lease{allocation_.job,
                         allocation_.restart_count,
                         allocation_.node,
                         ::getpid(),
                         process ? process->started : 0};
  DTS_ASSIGN(number_, run::take_attempt(run_, run::to_json(lease)));
  // Whoever had the attempt before us and left no word of its end is gone, or is fenced off from
  // now on.
  DTS_ASSIGN(const auto events, run::read_ledger(run_.ledger()));
  record_ = run::failure_record(events);
  if (const auto lost = run::unfinished_attempt(events); lost && *lost < number_) {
    ++record_.failures;
    run::Event ended{.event = "attempt_ended",
                     .attempt = *lost,
                     .cause = run::to_string(run::Cause::agent_lost)};
    ended.detail = "its agent left no word: killed, or its node was lost";
    DTS_TRY(run::append_event(run_.ledger(), std::move(ended)));
  }
  const std::string log_path = run_.attempt(number_) + "/agent.log";
  const UniqueFd file(::open(log_path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600));
  if (!file.valid() || ::dup2(file.get(), STDERR_FILENO) < 0)
    return fail_errno("cannot open " + log_path);
  log("attempt {} of {}: job {}, {} ranks on {} nodes ({})",
      number_,
      run_.path,
      allocation_.job,
      plan_.world_size,
      allocation_.nodes.size(),
      fmt::join(allocation_.nodes, ","));
  DTS_TRY(choose_nodes());
  run::Event started{.event = "attempt_started", .nodes = choice_.used};
  if (!choice_.spare.empty()) started.detail = "spare: " + fold_hostlist(choice_.spare);
  started.checkpoint = run::newest_checkpoint(run_);
  // The disk works while the launcher starts; nothing is committed before on_started() has joined.
  beginning_ = std::async(std::launch::async, [this, event = std::move(started)]() -> Result<void> {
    DTS_TRY(run::sync_attempt(run_, number_));
    return note(event);
  });
  return {};
}

Result<void> Agent::note_unfit(const std::vector<run::UnfitNode>& nodes) {
  for (const run::UnfitNode& unfit : nodes) {
    run::Event event{.event = "node_unfit", .detail = unfit.why};
    event.node = unfit.node;
    DTS_TRY(note(std::move(event)));
  }
  return {};
}

Result<void> Agent::choose_nodes() {
  choice_ = pool_.choose(number_);
  rank_nodes_.clear();
  if (choice_.used.size() < plan_.nodes || choice_.unfit.empty()) return {};
  // The attempt goes on without them: its end will not speak of them.
  run::Outcome found;
  found.unfit = choice_.unfit;
  remember_nodes(found, run_.path, number_);
  return note_unfit(choice_.unfit);
}

void Agent::join_beginning() {
  if (beginning_.valid()) begun_ = beginning_.get();
}

std::vector<std::pair<std::string, std::string>> Agent::common_environment() const {
  return {{"DTSUBMIT_RUN_DIR", run_.path},
          {"DTSUBMIT_ATTEMPT", std::to_string(number_)},
          {"DTSUBMIT_CHECKPOINT_DIR", run_.checkpoints()},
          {"PYTHONUNBUFFERED", "1"}};
}

RunnerSettings Agent::runner_settings() {
  RunnerSettings settings;
  settings.attempt.plan = plan_;
  settings.attempt.number = number_;
  settings.attempt.token = random_hex(16);
  const auto [low, high] = ephemeral_ports();
  settings.attempt.ports =
      plan::master_port_candidates(run_.path, number_, low, high, k_port_candidates);
  settings.attempt.environment = common_environment();
  settings.attempt.folder = run_.attempt(number_);
  settings.attempt.stop_signal = spec_.stop_signal;
  settings.attempt.hang_seconds = hang_seconds(spec_.hang_timeout);
  settings.attempt.agent_node = allocation_.node;
  settings.attempt.log_timestamps = spec_.log_timestamps;
  settings.attempt.nodes = choice_.used;
  settings.attempt.launch_limit = spec_.start_timeout;
  settings.attempt.preflight = pool_.measured() ? seconds(0) : spec_.preflight;
  settings.attempt.run_directory = run_.path;
  settings.attempt.memory_mib = spec_.memory_mib;
  settings.attempt.wall = std::chrono::system_clock::now();
  settings.attempt.record = record_;
  settings.run = run_;
  settings.dtsubmit = options_.dtsubmit;
  if (plan_.spares > 0) settings.nodes = choice_.used;
  settings.local = options_.local;
  settings.signals = signals_.get();
  settings.topology = topology_;
  settings.watch = watch_.get();
  settings.on_started = [this](const Attempt& attempt) { return on_started(attempt); };
  settings.on_stop = [this](const Attempt& attempt) { on_stop(attempt); };
  settings.on_event = [this](run::Event event) { on_event(std::move(event)); };
  if (options_.local) output_.emplace(run::RankLogs(run_, number_, options_.shown), STDOUT_FILENO);
  return settings;
}

Result<void> Agent::on_started(const Attempt& attempt) {
  for (const plan::Placement& placement : attempt.placements())
    rank_nodes_.push_back(placement.node);
  join_beginning();
  DTS_TRY(begun_);
  const auto& rendezvous = attempt.rendezvous();
  log("all {} ranks run; MASTER_ADDR={} MASTER_PORT={}",
      plan_.world_size,
      rendezvous.master_addr,
      rendezvous.master_port);
  DTS_TRY(
      write_file(run_.attempt(number_) + "/placement.json", plan::to_json(attempt.placements())));
  run::Event event{.event = "ranks_started"};
  event.detail = fmt::format("{} ranks, master {} port {}",
                             plan_.world_size,
                             rendezvous.master_addr,
                             rendezvous.master_port);
  return note(std::move(event));
}

void Agent::on_stop(const Attempt& attempt) {
  run::Event event{.event = "stop_requested", .cause = run::to_string(*attempt.stop_cause())};
  event.detail = attempt.stop_detail();
  if (const auto noted = note(std::move(event)); !noted) log("{}", noted.error().message);
}

void Agent::on_event(run::Event event) {
  log("{}", event.detail);
  if (const auto noted = note(std::move(event)); !noted) log("{}", noted.error().message);
}

Result<run::Outcome> Agent::try_attempt(AttemptRunner& runner) {
  if (choice_.used.size() < plan_.nodes) return pool_.too_few(choice_);
  return runner.run();
}

Result<run::Outcome> Agent::run_attempt(AttemptRunner& runner) {
  auto ended_by = try_attempt(runner);
  output_.reset();
  join_beginning();
  DTS_TRY(begun_);
  if (!ended_by) {
    // It could not even begin (no mpirun): that is an end too, or the ledger would say that it
    // runs.
    run::Event failed{.event = "attempt_ended",
                      .cause = run::to_string(run::Cause::launch_failed),
                      .exit_code = exit_code(ended_by.error().code)};
    failed.detail = ended_by.error().message;
    DTS_TRY(note(std::move(failed)));
    log("attempt {} could not begin: {}", number_, ended_by.error().message);
    return tl::unexpected<Error>(std::move(ended_by).error());
  }
  run::Outcome outcome = std::move(*ended_by);
  outcome = run::explain(std::move(outcome), run_, number_, plan_.world_size);
  if (outcome.rank && outcome.node.empty() && *outcome.rank < rank_nodes_.size())
    outcome.node = rank_nodes_[*outcome.rank];
  if (runner.job())
    outcome = explain_by_job(std::move(outcome),
                             *runner.job(),
                             {allocation_.nodes,
                              runner.down_nodes(),
                              plan_.spares > 0 ? choice_.used : std::vector<std::string>(),
                              runner.reason_is_lost()});
  if (runner.interrupted() && outcome.cause == run::Cause::stopped)
    outcome.exit_code = exit_code(Errc::interrupted);
  log("attempt {} ended: {}: {}", number_, run::to_string(outcome.cause), outcome.detail);
  run::Event ended{.event = "attempt_ended",
                   .cause = run::to_string(outcome.cause),
                   .exit_code = outcome.exit_code};
  ended.detail = outcome.detail;
  if (outcome.rank) ended.rank = static_cast<int>(*outcome.rank);
  ended.node = outcome.node;
  ended.checkpoint = run::newest_checkpoint(run_);
  DTS_TRY(note_unfit(outcome.unfit));
  if (!options_.local) remember_nodes(outcome, run_.path, number_);
  pool_.remember(outcome, runner.down_nodes());
  ended.unsaved = outcome.unsaved;
  if (const Seconds save = runner.save_time(); save.count() > 0)
    ended.seconds["save"] = save.count();
  const auto noted = note(std::move(ended));
  runner.clean_up();
  DTS_TRY(noted);
  told_to_end_ = runner.told_to_end();
  return outcome;
}

// The job must stay alive until the scheduler ends it: a batch script that exits during a
// preemption's grace time is never requeued by Slurm 22.05 to 23.11.
void Agent::wait_for_the_end() {
  const auto until = std::chrono::steady_clock::now() + k_end_by_scheduler;
  while (!told_to_end_ && std::chrono::steady_clock::now() < until) {
    pollfd waiting{signals_.get(), POLLIN, 0};
    ::poll(&waiting, 1, 1000);
    while (const auto signal = read_signal(signals_.get()))
      told_to_end_ = told_to_end_ || *signal == SIGTERM;
  }
}

Result<int> Agent::come_back(const run::Outcome& outcome, const run::Decision& decision) {
  JobWatch::Return how;
  how.requeue = decision.action == run::Action::requeue;
  how.exclude = decision.exclude;
  how.nodes = plan_.nodes + plan_.spares;
  auto successor = make_successor(run_);
  if (successor) how.successor = *std::move(successor);
  if (!successor && !how.requeue) return tl::unexpected<Error>(std::move(successor).error());
  watch_->come_back(std::move(how));
  const auto until = std::chrono::steady_clock::now() + k_return_answer;
  while (std::chrono::steady_clock::now() < until) {
    pollfd waiting{watch_->event_fd(), POLLIN, 0};
    ::poll(&waiting, 1, 1000);
    watch_->drain_event();
    if (const auto answer = watch_->take_returned()) return returned(outcome, *answer);
  }
  return fail(Errc::unreachable,
              "the scheduler did not answer the request to run the job again",
              "continue with `dtsubmit requeue`");
}

// What was decided could not be done: the run stops.
Result<int> Agent::end_here(const run::Outcome& outcome, std::string why) {
  DTS_ASSIGN(const auto events, run::read_ledger(run_.ledger()));
  run::Event event{.event = "decided",
                   .exit_code = outcome.exit_code,
                   .decision = run::to_string(run::Action::stop),
                   .seconds = time_use(run_, events)};
  event.detail = std::move(why);
  DTS_TRY(note(std::move(event)));
  return outcome.exit_code;
}

Result<int> Agent::returned(const run::Outcome& outcome, const Result<JobWatch::Returned>& answer) {
  if (!answer) {
    log("requeue: {}", answer.error().message);
    return end_here(outcome,
                    "the scheduler refused to run the job again: " + answer.error().message);
  }
  const bool same = answer->job == allocation_.job;
  run::Event event{.event = same ? "requeued" : "resubmitted", .job = answer->job};
  event.detail = answer->trouble;
  DTS_TRY(note(std::move(event)));
  if (same)
    wait_for_the_end();
  else
    log("job {} continues this run", answer->job);
  return 0;
}

run::Decision Agent::decide(const run::Outcome& outcome,
                            const AttemptRunner& runner,
                            const std::vector<run::Event>& events) const {
  run::Circumstances now = run::count_failures(events);
  now.in_scheduler = !options_.local;
  now.may_requeue = spec_.requeue;
  now.has_spares = pool_.has_spares();
  now.already_requeued = runner.job() && is_requeued(*runner.job());
  return run::decide(outcome, now, policy_);
}

Result<int> Agent::run() {
  terminal_.reset(::fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3));
  if (!options_.local)
    watch_ = std::make_unique<JobWatch>(
        [] { return plugin::load_scheduler(); }, allocation_.job, plan_.spares > 0);
  while (true) {
    DTS_TRY(begin_attempt());
    AttemptRunner runner(runner_settings());
    DTS_ASSIGN(const run::Outcome outcome, run_attempt(runner));
    DTS_ASSIGN(const auto events, run::read_ledger(run_.ledger()));
    const run::Decision decision = decide(outcome, runner, events);
    log("decision: {}: {}", run::to_string(decision.action), decision.why);
    run::Event decided{.event = "decided",
                       .exit_code = decision.exit_code,
                       .decision = run::to_string(decision.action)};
    decided.detail = decision.why;
    if (decision.action == run::Action::done || decision.action == run::Action::stop)
      decided.seconds = time_use(run_, events);
    DTS_TRY(note(std::move(decided)));
    restore_terminal();
    log("attempt {}: {} ({}); {}: {}",
        number_,
        run::to_string(outcome.cause),
        outcome.detail,
        run::to_string(decision.action),
        decision.why);
    if (outcome.rank && !run::is_selected(options_.shown, *outcome.rank))
      print_last_words(run_, number_, *outcome.rank);
    switch (decision.action) {
      case run::Action::done:
      case run::Action::stop:
        return decision.exit_code;
      case run::Action::restart:
        if (sleep_unless_ended(signals_.get(), decision.delay)) continue;
        return end_here(
            outcome,
            "stopped by a signal before the next attempt; `dtsubmit requeue` continues it");
      case run::Action::requeue:
      case run::Action::resubmit:
        return come_back(outcome, decision);
      case run::Action::wait:
        wait_for_the_end();
        return 0;
    }
  }
}

}  // namespace

Result<int> run_agent(const AgentOptions& options) {
  ::prctl(PR_SET_CHILD_SUBREAPER, 1);
  DTS_ASSIGN(UniqueFd signals,
             take_signals({SIGTERM, SIGINT, SIGHUP, SIGUSR1, SIGUSR2, SIGCONT, SIGCHLD}));
  const run::RunDirectory run{options.run_directory};
  // Slurm requeues a job whose batch daemon has vanished, whatever came of the job.
  if (const auto events = run::read_ledger(run.ledger())) {
    const run::Event* last = run::final_decision(*events);
    if (last != nullptr && last->decision == run::to_string(run::Action::done)) {
      log("{} is complete: nothing is left to do", run.path);
      return 0;
    }
  }
  DTS_ASSIGN(const std::string spec_text, read_file(run.spec()));
  DTS_ASSIGN(spec::JobSpec spec, spec::from_json(spec_text, run.spec()));
  auto policy = run::parse_policy(spec.on);
  if (!policy) return tl::unexpected<Error>(to_error(policy.error()));
  policy->time_total = spec.time_total;
  DTS_ASSIGN(const std::string plan_text, read_file(run.plan()));
  DTS_ASSIGN(plan::Plan plan, plan::plan_from_json(plan_text));
  DTS_ASSIGN(Allocation allocation,
             options.local ? local_allocation(plan) : slurm_allocation(getenv_lookup));
  if (!options.local) DTS_TRY(check_allocation(allocation, plan));
  Agent agent(options,
              std::move(spec),
              *std::move(policy),
              std::move(plan),
              std::move(allocation),
              std::move(signals));
  auto code = agent.run();
  agent.restore_terminal();  // an error is for the person or slurm-<job>.log, not only for the
                             // attempt's log
  return code;
}

}  // namespace dts::launch
