// SPDX-License-Identifier: Apache-2.0
#include "core/launch/attempt/attempt.hpp"

#include "core/base/hash.hpp"
#include "core/base/text/counted.hpp"
#include "core/base/text/utf8.hpp"
#include "core/launch/attempt/exit_code.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <csignal>

namespace dts::launch {
namespace {

constexpr std::size_t k_longest_detail = 2000;
constexpr std::chrono::seconds k_kill_limit{5};
constexpr std::chrono::seconds k_sibling_patience{3};
constexpr std::chrono::milliseconds k_settle{300};
constexpr std::chrono::milliseconds k_settle_torchrun{6000};  // it looks at its workers every 5 s
constexpr std::chrono::seconds k_last_saves{60};  // for the other ranks, once one of them exited 85

run::Cause cause_of_exit(const Exited& message) {
  if (message.code == k_no_restart) return run::Cause::no_restart;
  if (message.out_of_memory) return run::Cause::out_of_memory;
  return message.code >= 128 ? run::Cause::rank_killed : run::Cause::user_exit;
}

// By a signal that no program sends itself when a peer fails, as it does SIGABRT.
bool is_killed_from_outside(const Exited& message) {
  constexpr std::array k_signals{SIGKILL, SIGSEGV, SIGBUS, SIGILL, SIGFPE};
  return message.out_of_memory ||
         std::find(k_signals.begin(), k_signals.end(), message.code - 128) != k_signals.end();
}

}  // namespace

Attempt::Attempt(AttemptSettings settings, Time now)
    : settings_(std::move(settings)),
      began_(now),
      last_hello_(now),
      phase_limit_(now + settings_.launch_limit),
      next_look_(now),
      advice_(settings_.plan.nodes, settings_.record) {}

std::string Attempt::where(unsigned rank) const {
  return fmt::format("rank {} on {}", rank, ranks_.at(rank).hello.rank.node);
}

std::string Attempt::nonce() const {
  return to_hex(hash64(settings_.token));
}

std::vector<unsigned> Attempt::missing() const {
  std::vector<unsigned> absent;
  for (unsigned rank = 0; rank < settings_.plan.world_size; ++rank)
    if (const auto found = ranks_.find(rank); found == ranks_.end() || found->second.is_late())
      absent.push_back(rank);
  return absent;
}

std::string Attempt::incomplete_node(Time now) const {
  const plan::Plan& plan = settings_.plan;
  if (ranks_.empty() || plan.world_size != plan.nodes * plan.ntasks_per_node) return {};
  // One daemon starts all ranks of a node, one right after the other. How long that takes here is
  // known from those that came: nodes as a whole may be late, as their file systems are.
  const auto patience = std::max<Time::duration>(k_sibling_patience, 2 * (last_hello_ - began_));
  if (now - last_hello_ < patience) return {};
  std::map<std::string, unsigned> there;
  for (const auto& [rank, state] : ranks_) ++there[state.hello.rank.node];
  for (const auto& [node, count] : there)
    if (count < plan.ntasks_per_node) return node;
  return {};
}

void Attempt::on_message(Peer peer, FromRank message, const std::string& reached_at, Time now) {
  if (auto* hello = std::get_if<Hello>(&message))
    return on(peer, std::move(*hello), reached_at, now);
  if (const auto* refused = std::get_if<Refused>(&message)) return on(peer, *refused, now);
  if (const auto* absent = std::get_if<NotLaunched>(&message)) return on(peer, *absent, now);
  const auto known = rank_of_.find(peer);
  if (known == rank_of_.end()) {
    refused_.push_back(peer);  // speaks before it said who it is
    return;
  }
  const unsigned rank = known->second;
  if (auto* m = std::get_if<Topology>(&message)) return on(rank, std::move(*m), now);
  if (const auto* m = std::get_if<Measured>(&message)) return on(rank, *m, now);
  if (const auto* m = std::get_if<ClockReading>(&message)) return on(rank, *m, now);
  if (const auto* m = std::get_if<Listening>(&message)) return on(rank, *m, now);
  if (const auto* m = std::get_if<Reached>(&message)) return on(rank, *m, now);
  if (const auto* m = std::get_if<Bound>(&message)) return on(rank, *m, now);
  if (const auto* m = std::get_if<Started>(&message)) return on(rank, *m, now);
  if (const auto* m = std::get_if<Launched>(&message)) return on(rank, *m, now);
  if (const auto* m = std::get_if<Exited>(&message)) return on(rank, *m, now);
  if (const auto* m = std::get_if<Progress>(&message)) return on(rank, *m, now);
  if (const auto* m = std::get_if<Dumped>(&message)) return on(rank, *m, now);
  if (const auto* m = std::get_if<Signalled>(&message)) {
    if (!signalled_) signalled_.emplace(rank, m->signal);
  } else if (const auto* failed = std::get_if<Failed>(&message)) {
    if (failed->program != 0) return on_no_program(rank, *failed, now);
    end(run::Cause::launch_failed, 1, fmt::format("{}: {}", where(rank), failed->message), now);
  }
}

void Attempt::on(Peer peer, Hello&& hello, const std::string& reached_at, Time now) {
  if (hello.token != settings_.token || phase_ == Phase::ending || rank_of_.count(peer) != 0) {
    refused_.push_back(peer);
    return;
  }
  const unsigned rank = hello.rank.rank;
  if (hello.rank.world_size != settings_.plan.world_size) {
    refused_.push_back(peer);
    return end(run::Cause::wrong_ranks,
               3,
               fmt::format("rank {} on {} thinks the world has {}, planned {} {}: the launcher's "
                           "variables did not reach it",
                           rank,
                           hello.rank.node,
                           counted(hello.rank.world_size, "rank"),
                           settings_.plan.world_size == 1 ? "is" : "are",
                           settings_.plan.world_size),
               now);
  }
  if (phase_ != Phase::gathering || ranks_.count(rank) != 0 || rank >= settings_.plan.world_size) {
    refused_.push_back(peer);
    const std::string other = ranks_.count(rank) != 0 ? where(rank) : "none";
    return end(
        run::Cause::wrong_ranks,
        3,
        fmt::format("rank {} on {} said hello, but that rank is taken or out of range (held by {})",
                    rank,
                    hello.rank.node,
                    other),
        now);
  }
  rank_of_[peer] = rank;
  ranks_[rank] = Rank{peer, std::move(hello), {}, reached_at, false, std::nullopt, false};
  if (ranks_[rank].is_late()) ++late_;
  last_hello_ = now;
  if (settings_.preflight.count() > 0 && ranks_[rank].hello.rank.local_rank == 0)
    begin_check(rank, now);
  begin_rendezvous_if_all_came(now);
}

void Attempt::on(unsigned rank, Topology&& message, Time now) {
  Rank& state = ranks_.at(rank);
  if (phase_ != Phase::gathering || !state.is_late()) return;
  state.topology = std::move(message.text);
  if (!state.is_late()) --late_;
  begin_rendezvous_if_all_came(now);
}

void Attempt::on(Peer peer, const Refused& message, Time now) {
  refused_.push_back(peer);
  if (message.token == settings_.token && phase_ == Phase::gathering)
    end(run::Cause::wrong_ranks,
        3,
        fmt::format("a rank on {}: {}", message.node, message.message),
        now);
}

void Attempt::start_ranks(Time now) {
  phase_ = Phase::starting;
  phase_limit_ = now + settings_.launch_limit;
  const std::uint64_t checkpoint_every = first_advice();
  std::vector<plan::Environment> environments =
      plan::rank_environments(placements_, rendezvous_, settings_.plan);
  for (const plan::Placement& placement : placements_)
    node_cpus_[placement.node].insert(placement.cpus.begin(), placement.cpus.end());
  for (const plan::Placement& placement : placements_) {
    Go go;
    const PlannedBinding planned = planned_binding(placement.rank);
    go.cpus = planned.cpus;
    go.memory = planned.memory;
    go.gpus_per_node = planned.gpus_per_node;
    go.node_cpus = planned.node_cpus;
    go.strict_binding = settings_.strict_binding;
    go.environment = std::move(environments.at(placement.rank));
    go.environment.insert(
        go.environment.end(), settings_.environment.begin(), settings_.environment.end());
    go.log = fmt::format("{}/rank-{}.log", settings_.folder, placement.rank);
    go.stop_signal = settings_.stop_signal;
    go.signals_reach_programs = signals_reach_programs_;
    go.log_timestamps = settings_.log_timestamps;
    go.hang_seconds = settings_.hang_seconds;
    go.checkpoint_every = checkpoint_every;
    if (settings_.plan.bind_threads == "auto") go.thread_cpus = placement.first_cpus;
    send(placement.rank, std::move(go));
  }
}

void Attempt::on(unsigned rank, const Started&, Time now) {
  if (phase_ != Phase::starting) return;
  ranks_.at(rank).started = true;
  ranks_.at(rank).heard = now;
  if (no_program_until_ != Time::max()) return judge_no_program(now);
  if (std::all_of(
          ranks_.begin(), ranks_.end(), [](const auto& one) { return one.second.started; })) {
    phase_ = Phase::running;
    running_since_ = saved_at_ = now;
    started_news_ = true;
  }
}

void Attempt::on(unsigned rank, const Exited& message, Time now) {
  Rank& state = ranks_.at(rank);
  if (state.exit_code) return;
  state.exit_code = message.code;
  state.done = message.done;
  state.ended_unasked = !stop_cause_;
  if (launchers_.are_ranks_twice()) judge_ranks_twice(now);
  if (message.code == 0) launchers_.forget(rank);  // others may get its ranks
  // The others have to follow soon: one that waits for a rank that is gone would wait for ever.
  if (message.code == k_checkpointed || (message.code != 0 && stop_cause_))
    kill_at_ = std::min(kill_at_, now + k_last_saves);
  if (message.code == k_checkpointed) {
    if (!first_saved_) first_saved_ = rank;
  } else if (message.code == k_no_restart || (message.code != 0 && !stop_cause_)) {
    on_failed_exit(rank, message, now);
  }
  finish_if_all_ended();
}

void Attempt::withdraw_victim(Time now) {
  if (phase_ == Phase::running && settle_until_ != Time::max() && now < settle_until_)
    failure_.reset();
}

// A program whose peer is killed can be told of it by MPI, and fail, before the peer's own rank has
// said that it was killed: who is killed within a moment of the first failure is the reason of it.
void Attempt::on_failed_exit(unsigned rank, const Exited& message, Time now) {
  const bool killed = is_killed_from_outside(message);
  if (killed) withdraw_victim(now);
  blame(cause_of_exit(message),
        message.code,
        fmt::format("{} {}{}",
                    where(rank),
                    describe_exit(message.code),
                    message.out_of_memory ? ", by the kernel for want of memory" : ""),
        rank);
  const bool may_be_victim = !killed && message.code != k_no_restart;
  if (may_be_victim && phase_ == Phase::running) {
    const bool torchrun = settings_.plan.workers_per_task > 0 || launchers_.any_below(rank);
    settle_until_ = std::min(settle_until_, now + (torchrun ? k_settle_torchrun : k_settle));
    return judge_failed_launcher(rank, now);
  }
  kill_all(now);
}

void Attempt::on_lost(Peer peer, Time now) {
  const auto known = rank_of_.find(peer);
  if (known == rank_of_.end()) return;
  const unsigned rank = known->second;
  rank_of_.erase(known);  // the number may come back as another connection's
  Rank& state = ranks_.at(rank);
  state.gone = true;
  if (!state.exit_code) {
    state.exit_code = 128 + SIGKILL;
    withdraw_victim(now);
    end_unless_a_node_is_down(
        {run::Cause::rank_killed, *state.exit_code, where(rank) + ": its process vanished", rank},
        now);
  }
  finish_if_all_ended();
}

void Attempt::on_launcher_exit(int code, Time now) {
  if (phase_ == Phase::gathering)
    end_unless_a_node_is_down(
        {run::Cause::launch_failed,
         code != 0 ? code : 1,
         fmt::format("the launcher ended with code {} before ranks {} said hello",
                     code,
                     fmt::join(missing(), ",")),
         std::nullopt},
        now);
  else if (!outcome_)
    end(run::Cause::launcher_died,
        code != 0 ? code : 1,
        fmt::format("the launcher {} before its ranks", describe_exit(code)),
        now);
}

void Attempt::on_tick(Time now) {
  if (outcome_) return;
  if (now >= give_up_at_) {
    for (auto& [rank, state] : ranks_) {
      state.gone = true;
      if (!state.exit_code) state.exit_code = 128 + SIGKILL;
    }
    return finish_if_all_ended();
  }
  if (phase_ == Phase::ending) return;
  if (now >= twice_at_) judge_ranks_twice(now);
  if (now >= settle_until_) return kill_all(now);
  if (now >= kill_at_ && !stop_cause_)
    return end(run::Cause::rank_killed,
               128 + SIGKILL,
               fmt::format("{} saved and exited 85, but others were still running {} s later",
                           where(first_saved_.value_or(0)),
                           k_last_saves.count()),
               now);
  if (now >= kill_at_) return kill_all(now);
  if (phase_ == Phase::running) {
    look_at_binding(now);
    return check_progress(now);
  }
  if (phase_ == Phase::starting && now >= no_program_until_) return end_no_program(now);
  if (phase_ == Phase::gathering)
    if (const std::string node = incomplete_node(now); !node.empty())
      return end(run::Cause::launch_failed,
                 1,
                 fmt::format("ranks {} did not say hello, but others on {} did, the last {} s ago",
                             fmt::join(missing(), ","),
                             node,
                             std::chrono::floor<std::chrono::seconds>(now - last_hello_).count()),
                 now);
  if (phase_ == Phase::gathering) look_for_silent_nodes(now);
  if (now < phase_limit_) return;
  switch (phase_) {
    case Phase::gathering:
      return end(run::Cause::launch_failed,
                 1,
                 fmt::format("ranks {} did not say hello within {} s{}",
                             fmt::join(missing(), ","),
                             settings_.launch_limit.count(),
                             describe_silence()),
                 now);
    case Phase::checking:
      return judge_nodes(now);
    case Phase::starting:
      return end(run::Cause::launch_failed, 1, "not every rank started its program in time", now);
    default:
      return end(run::Cause::launch_failed,
                 1,
                 fmt::format("no rendezvous within {} s", k_rendezvous_limit.count()),
                 now);
  }
}

void Attempt::on_stop(run::Cause cause, Time kill_at, const std::string& detail, Time now) {
  kill_at_ = std::min(kill_at_, kill_at);
  if (stop_cause_ || failure_ || phase_ == Phase::ending) return;
  stop_cause_ = cause;
  stop_detail_ = detail;
  if (phase_ != Phase::running && phase_ != Phase::starting)
    return kill_all(now);  // no program runs yet
  stop_news_ = stop_news_given_ = true;
  for (const auto& [rank, state] : ranks_)
    if (!state.exit_code) send(rank, Stop{settings_.stop_signal});
}

void Attempt::blame(run::Cause cause,
                    int exit_code,
                    std::string detail,
                    std::optional<unsigned> rank) {
  if (failure_) return;
  const std::string node = rank ? ranks_.at(*rank).hello.rank.node : std::string();
  // Launchers and programs have their words in it.
  failure_ = run::Outcome{cause, exit_code, printable(detail, k_longest_detail), rank, node};
}

void Attempt::end(
    run::Cause cause, int exit_code, std::string detail, Time now, std::optional<unsigned> rank) {
  blame(cause, exit_code, std::move(detail), rank);
  kill_all(now);
}

void Attempt::kill_all(Time now) {
  if (phase_ == Phase::ending) return;
  phase_ = Phase::ending;
  give_up_at_ = now + k_kill_limit;
  for (auto& [rank, state] : ranks_) {
    if (state.exit_code || state.gone) continue;
    state.told_to_die = true;
    send(rank, Kill{});
  }
  finish_if_all_ended();  // perhaps nobody is left to be killed
}

void Attempt::finish_if_all_ended() {
  if (outcome_) return;
  if (phase_ != Phase::ending && ranks_.size() < settings_.plan.world_size) return;
  bool all_zero = true, all_saved = true;
  for (const auto& [rank, state] : ranks_) {
    if (!state.exit_code) return;
    all_zero = all_zero && *state.exit_code == 0;
    all_saved = all_saved && (*state.exit_code == k_checkpointed || *state.exit_code == 0);
  }
  phase_ = Phase::ending;
  if (!ranks_.empty() && all_zero && !failure_)
    outcome_ = end_of_zeros();
  else if (failure_ && failure_->cause == run::Cause::no_restart)
    outcome_ = failure_;
  else if (stop_cause_)
    outcome_ = end_of_stop(all_saved && !ranks_.empty());
  else if (failure_)
    outcome_ = failure_;
  else
    outcome_ = run::Outcome{
        run::Cause::checkpointed, k_checkpointed, "every rank saved and asked to be run again"};
  for (const auto& [rank, state] : ranks_)
    if (!state.gone) send(rank, Bye{});
}

std::vector<std::pair<Attempt::Peer, ToRank>> Attempt::take_messages() {
  return std::exchange(messages_, {});
}

std::vector<Attempt::Peer> Attempt::take_refused() {
  return std::exchange(refused_, {});
}

std::vector<run::Event> Attempt::take_events() {
  if (phase_ < Phase::running) return {};
  return std::exchange(events_, {});
}

bool Attempt::take_started() {
  return std::exchange(started_news_, false);
}

bool Attempt::take_stop_news() {
  return std::exchange(stop_news_, false);
}

std::optional<std::pair<unsigned, int>> Attempt::take_signalled() {
  return std::exchange(signalled_, std::nullopt);
}

}  // namespace dts::launch
