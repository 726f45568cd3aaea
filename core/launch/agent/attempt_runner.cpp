// SPDX-License-Identifier: Apache-2.0
#include "core/launch/agent/attempt_runner.hpp"

#include "core/base/files/files.hpp"
#include "core/base/files/segment_folder.hpp"
#include "core/base/hash.hpp"
#include "core/base/net/net.hpp"
#include "core/base/os/environment.hpp"
#include "core/base/os/log.hpp"
#include "core/base/os/own_children.hpp"
#include "core/base/os/process.hpp"
#include "core/base/os/signals.hpp"
#include "core/launch/job/stop_way.hpp"
#include "core/launch/launcher/identity.hpp"
#include "core/launch/launcher/launcher.hpp"
#include "core/launch/launcher/own_steps.hpp"
#include "core/launch/program/program.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <filesystem>
#include <thread>

namespace dts::launch {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr seconds k_hello_limit{10};  // a peer that says nothing is dropped
constexpr seconds k_launcher_patience{3};
constexpr seconds k_orphan_patience{5};
constexpr seconds k_facts_patience{3};
constexpr seconds k_answer_patience{5};
constexpr seconds k_controller_patience{120};  // a restarted one is back long before
constexpr seconds k_ask_again{3};
constexpr seconds k_fence_check{5};
constexpr milliseconds k_presence_check{500};
constexpr unsigned k_most_sentinels = 3;    // one after the other
constexpr milliseconds k_look_limit{1500};  // a lost SYN is sent again after 1 s (RFC 6298)
constexpr seconds k_answer_limit{20};       // for a step of a shell
constexpr seconds k_before_deadline{2};     // our kill comes before the scheduler's

}  // namespace

AttemptRunner::AttemptRunner(RunnerSettings settings)
    : settings_(std::move(settings)),
      attempt_(settings_.attempt, Clock::now()),
      not_ours_(own_children()),
      next_fence_check_(Clock::now()),
      next_presence_check_(Clock::now()) {}

AttemptRunner::~AttemptRunner() {
  if (launcher_ > 0) ::kill(-launcher_, SIGKILL);
  if (sentinel_ > 0) ::kill(-sentinel_, SIGKILL);
}

Result<run::Outcome> AttemptRunner::run() {
  DTS_TRY(open_channel());
  DTS_TRY(start_launcher());
  DTS_ASSIGN(topo::NodeTopology topology, settings_.topology.get());  // long before the first rank
  attempt_.set_topology(std::move(topology));
  // The scheduler's addresses are usually here long before the first rank is.
  facts_known_ = settings_.watch == nullptr;
  if (settings_.watch != nullptr) settings_.watch->begin_attempt();
  const auto facts_by = Clock::now() + k_facts_patience;
  while (!facts_known_ && Clock::now() < facts_by) poll_once(milliseconds(20));
  while (!attempt_.outcome())
    poll_once(attempt_.stopping() ? milliseconds(100) : milliseconds(250));
  deliver();
  confirm_cause();
  // Whatever the programs said: what they did is not there.
  [[maybe_unused]] const bool perhaps = presence_.look();
  if (!presence_.look())
    return run::Outcome{
        run::Cause::run_vanished, exit_code(Errc::io), run::vanished_words(settings_.run)};
  return *attempt_.outcome();
}

Result<LauncherCommand> AttemptRunner::launcher_command(std::vector<std::string> rank_command) {
  LaunchRequest request;
  request.plan = settings_.attempt.plan;
  request.rank_command = std::move(rank_command);
  request.nodes = settings_.nodes;
  request.dtsubmit = settings_.dtsubmit;
  request.run_directory = settings_.run.path;
  request.attempt = settings_.attempt.number;
  request.local = settings_.local;
  request.as_root = ::geteuid() == 0;
  const auto ask = [](spec::Launcher launcher) { return type_of(launcher).ask(); };
  DTS_ASSIGN(const LauncherChoice choice,
             choose_launcher(request.plan.launcher, request.local, ask));
  DTS_ASSIGN(LauncherCommand command,
             type_of(choice.launcher).command(request, choice.answer, getenv_lookup));
  log("launcher {}: {}", command.description, choice.why);
  return command;
}

Result<void> AttemptRunner::start_launcher() {
  std::vector<std::string> rank_command{settings_.dtsubmit,
                                        "rank",
                                        "--run",
                                        settings_.run.path,
                                        "--attempt",
                                        std::to_string(settings_.attempt.number),
                                        "--"};
  const auto& program = settings_.attempt.plan.command;
  rank_command.insert(rank_command.end(), program.begin(), program.end());
  DTS_ASSIGN(LauncherCommand launcher, launcher_command(std::move(rank_command)));
  needs_sentinel_ = launcher.needs_sentinel;
  if (!getenv_lookup(k_launcher_hwloc.first)) launcher.environment.emplace_back(k_launcher_hwloc);
  for (auto& variable : step_environment()) launcher.environment.push_back(std::move(variable));
  Command command;
  command.argv = launcher.argv;
  command.env = environment_with(launcher.environment);
  // Slurm sends SIGTERM to everything in sight. mpirun would tear its ranks' world down while they
  // save.
  command.blocked_signals = {SIGTERM};
  command.stdout_fd = STDERR_FILENO;  // its few words belong to the agent's log
  command.own_group = true;
  command.parent_death_signal = SIGKILL;
  DTS_ASSIGN(launcher_, start_process(command));
  return {};
}

void AttemptRunner::start_sentinel() {
  Command command;
  command.argv = sentinel_command(settings_.dtsubmit);
  auto environment = step_environment();
  // The job's own --gpus-per-node, which srun takes from here and refuses beside --gres=none.
  environment.emplace_back("SLURM_GPUS_PER_NODE", "");
  command.env = environment_with(environment);
  command.own_group = true;
  command.parent_death_signal = SIGKILL;
  const auto started = start_process(command);
  ++sentinels_;
  if (started)
    sentinel_ = *started;
  else
    log("no sentinel step: {}; a preemption is noticed by polling only", started.error().message);
}

// How processes of ours in other steps find the channel.
std::vector<std::pair<std::string, std::string>> AttemptRunner::step_environment() const {
  return {{"DTSUBMIT_RUN_DIR", settings_.run.path},
          {"DTSUBMIT_ATTEMPT", std::to_string(settings_.attempt.number)}};
}

void AttemptRunner::poll_once(milliseconds limit) {
  std::array<pollfd, 4> fds{
      {{settings_.signals, POLLIN, 0},
       {listener_.get(), POLLIN, 0},
       {settings_.watch != nullptr ? settings_.watch->event_fd() : -1, POLLIN, 0},
       {ready_.get(), POLLIN, 0}}};
  if (::poll(fds.data(), fds.size(), static_cast<int>(limit.count())) < 0 && errno != EINTR) return;
  // What was said comes before who is gone, and the ranks' own words before the launcher's end:
  // they are the reasons.
  if (fds[1].revents != 0) accept_peers();
  if (fds[1].revents != 0 || fds[3].revents != 0) serve_peers();
  if (fds[0].revents != 0)
    while (const auto signal = read_signal(settings_.signals)) on_signal(*signal);
  if (fds[2].revents != 0) on_watch();
  tick();
  deliver();
}

void AttemptRunner::on_signal(int signal) {
  const Time now = Clock::now();
  switch (signal) {
    case SIGCHLD:
      return on_children();
    case SIGCONT:
      return;
    case SIGUSR1:
      log("the time limit is near: asking every rank to save");
      attempt_.on_stop(run::Cause::time_limit, Time::max(), "the time limit is near", now);
      break;
    case k_stop_request:
      // A person's wish has no deadline of its own: the job's time limit comes with SIGTERM.
      log("signal {}: `dtsubmit stop` asks every rank to save", signal);
      stop_asked_ = true;
      attempt_.on_stop(run::Cause::stopped, Time::max(), "asked for by `dtsubmit stop`", now);
      break;
    case SIGINT:
      if (interrupted_) attempt_.on_stop(run::Cause::stopped, now, "interrupted twice", now);
      interrupted_ = true;
      [[fallthrough]];
    default: {
      told_to_end_ = told_to_end_ || signal == SIGTERM;
      // A person's stop of a job is k_stop_request: what a SIGTERM means only the scheduler can
      // tell.
      const bool by_person = settings_.local || signal == SIGINT;
      const run::Cause cause = by_person ? run::Cause::stopped : run::Cause::signalled;
      log("signal {}: asking every rank to save, {} s at most", signal, kill_wait_seconds_);
      const seconds left = std::max(seconds(2), seconds(kill_wait_seconds_) - k_before_deadline);
      attempt_.on_stop(
          cause, settings_.local ? Time::max() : now + left, fmt::format("signal {}", signal), now);
    }
  }
  ask_scheduler();
}

void AttemptRunner::ask_scheduler() {
  if (settings_.watch != nullptr) settings_.watch->ask();
}

// Never any child whatever: those of JobWatch's thread are its own to wait for.
void AttemptRunner::on_children() {
  int status = 0;
  if (launcher_ > 0 && ::waitpid(launcher_, &status, WNOHANG) == launcher_) {
    launcher_ = 0;
    attempt_.on_launcher_exit(exit_code_of_wait_status(status), Clock::now());
  }
  if (sentinel_ > 0 && ::waitpid(sentinel_, &status, WNOHANG) == sentinel_) {
    sentinel_ = 0;
    on_sentinel_end();
  }
  for (const pid_t orphan : own_children())
    if (orphan != launcher_ && orphan != sentinel_) ::waitpid(orphan, nullptr, WNOHANG);
}

// What ended it may have been a preemption's signal, before it could listen or tell.
void AttemptRunner::on_sentinel_end() {
  ask_scheduler();
  if (attempt_.stopping() || attempt_.outcome() || sentinels_ >= k_most_sentinels) return;
  start_sentinel();
}

// Slurm signals the job's steps, not its batch script, when a preemption's grace time begins.
void AttemptRunner::on_notice(const Notice& notice) {
  if (attempt_.outcome()) return;
  // It listens from now on. What came before stands in the job's record.
  if (notice.signal == 0) return ask_scheduler();
  log("the step on {} got signal {}: asking every rank to save", notice.node, notice.signal);
  on_step_signal(notice.signal, fmt::format("signal {} to the job's steps", notice.signal));
}

void AttemptRunner::on_step_signal(int signal, const std::string& detail) {
  if (steps_signalled_at_ == 0) steps_signalled_at_ = unix_now();
  attempt_.on_step_signal(
      signal == SIGINT ? run::Cause::stopped : run::Cause::signalled, detail, Clock::now());
  ask_scheduler();
}

void AttemptRunner::on_watch() {
  settings_.watch->drain_event();
  if (const auto trouble = settings_.watch->take_trouble()) log("scheduler: {}", trouble->message);
  if (auto handicap = settings_.watch->take_handicap())
    settings_.on_event({.what = run::Warning{*std::move(handicap)}});
  if (auto facts = settings_.watch->take_facts()) {
    kill_wait_seconds_ = facts->kill_wait_seconds;
    node_addresses_ = facts->addresses;
    node_ports_ = std::move(facts->ports);
    controller_known_ = !facts->addresses.empty();
    attempt_.set_node_addresses(std::move(facts->addresses));
    attempt_.set_allotments(std::move(facts->allotments));
    attempt_.set_signals_reach_programs(facts->signals_reach_programs);
    deadline_ = facts->deadline;
    if (facts->deadline > 0)
      attempt_.add_environment("DTSUBMIT_DEADLINE", std::to_string(facts->deadline));
    facts_known_ = true;
  }
  if (auto down = settings_.watch->take_down_nodes()) down_nodes_ = *std::move(down);
  if (const auto start = settings_.watch->take_controller_start()) controller_start_ = *start;
  if (auto job = settings_.watch->take_job()) {
    job_ = std::move(job);
    if (job_->state == sched::JobState::running) deadline_ = job_->end_time;
    // A grace period began, heard of or not: the deadline moved without a signal to us.
    if (job_->preempt_time == 0) return;
    const seconds left(std::max<std::int64_t>(1, job_->end_time - unix_now()));
    if (!attempt_.stopping()) log("preemption: {} s left", left.count());
    attempt_.on_stop(run::Cause::preempted,
                     Clock::now() + std::max(seconds(1), left - k_before_deadline),
                     "preempted",
                     Clock::now());
  }
}

std::int64_t AttemptRunner::unix_now() const {
  const auto now = attempt_.wall_at(Clock::now());
  return std::chrono::floor<seconds>(now.time_since_epoch()).count();
}

void AttemptRunner::tick() {
  const Time now = Clock::now();
  attempt_.on_tick(now);
  if (deadline_ > 0) attempt_.on_time_left(seconds(deadline_ - unix_now()), now);
  look_at_silent_nodes();
  ask_mute_nodes();
  for (const std::string& note : attempt_.take_notes()) log("{}", note);
  if (const auto signalled = attempt_.take_signalled(); signalled && !attempt_.outcome()) {
    log("rank {} got signal {} from outside: asking every rank to save",
        signalled->first,
        signalled->second);
    on_step_signal(signalled->second,
                   fmt::format("signal {} at rank {}", signalled->second, signalled->first));
  }
  if (attempt_.take_started()) {
    if (const auto recorded = settings_.on_started(attempt_); !recorded) {
      log("{}", recorded.error().message);
      attempt_.on_stop(run::Cause::stopped, now, recorded.error().message, now);
    }
    if (needs_sentinel_) start_sentinel();  // after the ranks: it must not delay them
    // Steps that were not there yet heard no signal: from now on all listen, and what was before
    // stands in the job's record. Measured: 7 of 37 preemptions in this gap went unheard.
    ask_scheduler();
  }
  deliver();  // before anything slow: the programs' time to save runs
  if (attempt_.take_stop_news()) settings_.on_stop(attempt_);
  for (run::Event& event : attempt_.take_events()) settings_.on_event(std::move(event));
  if (const auto report = attempt_.take_binding())
    if (const auto written = write_binding(settings_.run, *report); !written)
      log("{}", written.error().message);
  std::vector<int> silent;
  for (const int fd : strangers_)
    if (now - peers_.at(fd).since > k_hello_limit) silent.push_back(fd);
  for (const int fd : silent) drop(fd);
  look_at_run_directory(now);
}

void AttemptRunner::look_at_run_directory(Time now) {
  if (now >= next_fence_check_) {
    next_fence_check_ = now + k_fence_check;
    if (std::string newest = run::newest_checkpoint(settings_.run); newest != checkpoint_) {
      checkpoint_ = std::move(newest);
      attempt_.on_checkpoint(now);
    }
    if (exists(settings_.run.attempt(settings_.attempt.number + 1) + "/epoch"))
      attempt_.on_stop(run::Cause::fenced, now, "a newer attempt has begun", now);
  }
  if (now < next_presence_check_) return;
  next_presence_check_ = now + k_presence_check;
  if (attempt_.outcome() || presence_.look()) return;
  const std::string words = run::vanished_words(settings_.run);
  log("{}: ending every rank", words);
  attempt_.on_run_vanished(words, now);
  next_presence_check_ = Time::max();
}

// A look takes a while, and a name server can take longer: never on this thread, and the agent's
// end must not wait for it.
void AttemptRunner::look_at_silent_nodes() {
  if (sights_.valid()) {
    if (sights_.wait_for(seconds(0)) != std::future_status::ready) return;
    attempt_.on_sights(sights_.get(), Clock::now());
  }
  std::vector<NodeEndpoint> endpoints;
  for (const std::string& node : attempt_.take_silent_nodes())
    endpoints.push_back({node, node_addresses_[node], node_ports_[node]});
  if (endpoints.empty()) return;
  std::packaged_task<std::vector<NodeSight>()> look(
      [endpoints = std::move(endpoints)] { return probe_nodes(endpoints, k_look_limit); });
  sights_ = look.get_future();
  std::thread(std::move(look)).detach();
}

// Likewise: a step that begins on such a node can take long.
void AttemptRunner::ask_mute_nodes() {
  if (unable_.valid()) {
    if (unable_.wait_for(seconds(0)) != std::future_status::ready) return;
    auto unable = unable_.get();
    if (!unable) log("silent nodes were asked what they lack: {}", unable.error().message);
    if (unable) attempt_.on_unable(*std::move(unable), Clock::now());
  }
  const std::vector<std::string> nodes = attempt_.take_mute_nodes();
  if (nodes.empty() || settings_.local) return;
  const NodeDoubt doubt{
      nodes, settings_.dtsubmit, settings_.run.attempt(settings_.attempt.number) + "/channel.json"};
  std::packaged_task<Result<std::vector<run::UnfitNode>>()> question(
      [doubt] { return unable_nodes(doubt, k_answer_limit); });
  unable_ = question.get_future();
  std::thread(std::move(question)).detach();
}

void AttemptRunner::clean_up() {
  const Time until = Clock::now() + k_launcher_patience;
  while (launcher_ > 0 && Clock::now() < until) poll_once(milliseconds(50));
  if (launcher_ > 0) {
    ::kill(-launcher_, SIGKILL);
    ::waitpid(launcher_, nullptr, 0);
    launcher_ = 0;
  }
  if (sentinel_ > 0) {
    ::kill(-sentinel_, SIGKILL);
    ::waitpid(sentinel_, nullptr, 0);
    sentinel_ = 0;
  }
  // What a killed rank process or mpirun left behind came to us; it must not work beside the next
  // attempt. SIGTERM first: an srun that hears it ends its step on the other nodes, one that is
  // killed leaves it, and a step that still holds its cores lets no other begin.
  signal_children(SIGTERM, not_ours_);
  const Time orphans_until = Clock::now() + k_orphan_patience;
  while (signal_children(0, not_ours_) && Clock::now() < orphans_until) poll_once(milliseconds(20));
  kill_children(not_ours_);
  remove_left_segments(k_shared_memory);
}

// The record that tells preemption, cancel and requeue apart may be older than the end: ask once
// more. A stop whose reason is not known waits for a controller that is away: it may be a
// preemption, and a job that ends then is not requeued by Slurm 22.05 to 23.11.
void AttemptRunner::confirm_cause() {
  if (settings_.watch == nullptr || attempt_.outcome()->cause == run::Cause::completed) return;
  job_.reset();
  settings_.watch->ask();
  const run::Cause cause = attempt_.outcome()->cause;
  const bool unexplained = cause == run::Cause::stopped || cause == run::Cause::signalled;
  const Time asked = Clock::now();
  const Time until =
      asked + (unexplained && controller_known_ ? k_controller_patience : k_answer_patience);
  Time ask_again = asked + k_ask_again;
  while (!job_ && Clock::now() < until) {
    poll_once(milliseconds(50));
    if (Clock::now() < ask_again) continue;
    ask_again = Clock::now() + k_ask_again;
    settings_.watch->ask();
  }
}

}  // namespace dts::launch
