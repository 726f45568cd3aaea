// SPDX-License-Identifier: Apache-2.0
#include "core/launch/attempt/watch/rank_exits.hpp"

#include "core/launch/attempt/state/exit_code.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <utility>

namespace dts::launch {
namespace {

constexpr std::chrono::milliseconds k_settle{300};
constexpr std::chrono::milliseconds k_settle_torchrun{6000};  // it checks its workers every 5 s
constexpr std::chrono::seconds k_look_before_kill{3};         // for py-spy
constexpr std::chrono::seconds k_last_saves{60};  // for the other ranks, after one has exited 85

run::Cause cause_of_exit(const Exited& message) {
  if (message.code == k_no_restart) return run::Cause::no_restart;
  if (message.out_of_memory) return run::Cause::out_of_memory;
  return is_death_by_signal(message.code) ? run::Cause::rank_killed : run::Cause::user_exit;
}

// True for signals that a program, unlike with SIGABRT, does not send itself when a peer fails.
bool is_killed_from_outside(const Exited& message) {
  constexpr std::array k_signals{SIGKILL, SIGSEGV, SIGBUS, SIGILL, SIGFPE};
  return message.out_of_memory ||
         std::find(k_signals.begin(), k_signals.end(), message.code - 128) != k_signals.end();
}

}  // namespace

void RankExits::on_exited(unsigned rank, const Exited& message, Time now) {
  RankState& state = ranks_.at(rank);
  if (state.exit_code) return;
  const bool stopping = ending_.asked_stop().has_value();
  state.exit_code = message.code;
  state.done = message.done;
  state.ended_unrequested = !stopping;
  launchers_.on_exited(rank, message.code, now);
  if (!message.left_running.empty() && !stopping) warn_of_left(rank, message.left_running);
  // The others have to end soon, because a rank that waits for a rank that is gone never ends.
  if (message.code == k_checkpointed || (message.code != 0 && stopping))
    ending_.kill_by(now + k_last_saves);
  if (message.code == k_checkpointed) {
    if (!first_saved_) first_saved_ = rank;
  } else if (message.code == k_no_restart || (message.code != 0 && !stopping)) {
    on_failed(rank, message, now);
  }
  ending_.finish_if_all_ended();
}

// A program that detaches itself from its rank looks complete as soon as it has begun.
void RankExits::warn_of_left(unsigned rank, const std::string& command) {
  if (std::exchange(warned_, true)) return;
  news_.events.push_back(
      {.what = run::Warning{fmt::format(
           "{} exited 0 and left `{}` running, which was killed: a run ends with its program, "
           "which must not go into the background",
           ranks_.where(rank),
           command)}});
}

void RankExits::withdraw_secondary_failure(Time now) {
  if (settle_until_ != Time::max() && now < settle_until_ && !ending_.begun()) ending_.withdraw();
}

// ", after rank 0 on n0 had exited 0": a rank that ends without waiting for the others, for example
// without a barrier after its last step, makes them lose a peer.
std::string RankExits::after_done_ranks() const {
  const auto is_done = [](const auto& one) { return one.second.exit_code == 0; };
  const auto first = std::find_if(ranks_.begin(), ranks_.end(), is_done);
  if (first == ranks_.end()) return {};
  const auto more = std::count_if(ranks_.begin(), ranks_.end(), is_done) - 1;
  return fmt::format(", after {}{} had exited 0",
                     ranks_.where(first->first),
                     more > 0 ? fmt::format(" and {} more", more) : "");
}

// When a program is killed, MPI can make its peers fail before its own rank has reported that. A
// rank that is killed shortly after the first failure is therefore taken as the cause.
void RankExits::on_failed(unsigned rank, const Exited& message, Time now) {
  const bool killed = is_killed_from_outside(message);
  if (killed) withdraw_secondary_failure(now);
  ending_.blame({cause_of_exit(message),
                 message.code,
                 fmt::format("{} {}{}{}",
                             ranks_.where(rank),
                             describe_exit(message.code),
                             message.out_of_memory ? ", by the kernel for lack of memory" : "",
                             after_done_ranks()),
                 rank});
  const bool may_be_victim = !killed && message.code != k_no_restart;
  if (!may_be_victim || !all_run_ || ending_.begun()) return ending_.kill_all(now);
  const bool torchrun = settings_.plan.workers_per_task > 0 || launchers_.any_below(rank);
  settle_until_ = std::min(settle_until_, now + (torchrun ? k_settle_torchrun : k_settle));
  launchers_.judge_failed(rank, now);
}

void RankExits::on_lost(Peer peer, Time now) {
  const auto rank = ranks_.rank_of(peer);
  if (!rank) return;
  ranks_.forget(peer);
  RankState& state = ranks_.at(*rank);
  state.gone = true;
  if (!state.exit_code) {
    state.exit_code = 128 + SIGKILL;
    withdraw_secondary_failure(now);
    silent_.end_unless_a_node_is_down({run::Cause::rank_killed,
                                       *state.exit_code,
                                       ranks_.where(*rank) + ": its process vanished",
                                       rank},
                                      now);
  }
  ending_.finish_if_all_ended();
}

// Asks for the stacks of ranks that have not ended, shortly before they are killed.
void RankExits::look_at_overdue() {
  const auto& stop = ending_.asked_stop();
  if (!stop || !stop->programs_informed || std::exchange(looked_at_overdue_, true)) return;
  for (auto& [rank, state] : ranks_) {
    if (state.exit_code) continue;
    state.looked_at = true;
    ranks_.send(rank, Stacks{settings_.stacks(rank), true});
  }
}

void RankExits::on_tick(Time now) {
  launchers_.on_tick(now);
  if (now >= settle_until_) return ending_.kill_all(now);
  if (now >= ending_.kill_at() - k_look_before_kill) look_at_overdue();
  if (now < ending_.kill_at()) return;
  if (ending_.asked_stop()) return ending_.kill_all(now);
  ending_.end({run::Cause::rank_killed,
               128 + SIGKILL,
               fmt::format("{} saved and exited 85, but others were still running {} s later",
                           ranks_.where(first_saved_.value_or(0)),
                           k_last_saves.count())},
              now);
}

}  // namespace dts::launch
