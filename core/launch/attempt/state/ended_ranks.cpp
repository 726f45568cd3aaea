// SPDX-License-Identifier: Apache-2.0
#include "core/launch/attempt/state/ended_ranks.hpp"

#include "core/launch/attempt/state/exit_code.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <csignal>

namespace dts::launch {
namespace {

int code_of(const RankState& rank) {
  return rank.exit_code.value_or(128 + SIGKILL);
}

// True if we killed the rank because its time was up.
bool is_overdue(const RankState& rank) {
  return code_of(rank) == 128 + SIGKILL && rank.kill_sent;
}

// ", and had used no processor time for 9 s; its stacks are in FILE"; empty if its stacks were not
// requested. A full disk takes none.
std::string last_seen(const RankState& rank) {
  constexpr unsigned k_idle = 2;  // seconds
  if (!rank.looked_at) return {};
  const Progress& seen = rank.progress;
  const std::string what =
      seen.state == "T" ? "was stopped by a signal"
      : seen.idle_seconds >= k_idle
          ? fmt::format("had used no processor time for {} s", seen.idle_seconds)
          : "was still using the processor";
  return ", and " + what + (rank.stacks.empty() ? "" : "; its stacks are in " + rank.stacks);
}

int exit_code_of(const AskedStop& stop) {
  return stop.cause == run::Cause::wrong_binding ? k_wrong : k_checkpointed;
}

}  // namespace

run::Outcome EndedRanks::outcome(const std::optional<AskedStop>& stop,
                                 const std::optional<run::Outcome>& failure) const {
  if (!ranks_.empty() && has_all(0, 0) && !failure) return outcome_of_zeros(stop);
  if (failure && failure->cause == run::Cause::no_restart) return *failure;
  if (stop) return outcome_of_stop(*stop, failure);
  if (failure) return *failure;
  return {run::Cause::checkpointed, k_checkpointed, "every rank saved and asked to be run again"};
}

bool EndedRanks::has_all(int code, int or_code) const {
  return std::all_of(ranks_.begin(), ranks_.end(), [&](const auto& one) {
    return code_of(one.second) == code || code_of(one.second) == or_code;
  });
}

// The first rank whose program ended without saving.
std::optional<unsigned> EndedRanks::unsaved_rank() const {
  for (const auto& [rank, state] : ranks_)
    if (const int code = code_of(state); code != 0 && code != k_checkpointed) return rank;
  return std::nullopt;
}

// ": rank 3 on n1 was killed by SIGTERM, which its program does not handle; and 2 more ranks"
std::string EndedRanks::describe_unsaved(bool programs_informed) const {
  std::string words;
  unsigned more = 0;
  for (const auto& [rank, state] : ranks_) {
    const int code = code_of(state);
    if (code == 0 || code == k_checkpointed) continue;
    if (!words.empty()) {
      ++more;
      continue;
    }
    words = is_overdue(state) ? fmt::format(": {} had not ended when its time was up{}",
                                            ranks_.where(rank),
                                            last_seen(state))
                              : fmt::format(": {} {}", ranks_.where(rank), describe_exit(code));
    if (programs_informed && code == 128 + stop_signal_)
      words += ", which its program does not handle";
    if (is_torchruns(state) && code == 1)
      words += ", as torchrun and the like do even if their workers have saved";
  }
  return more == 0 ? words
                   : words + fmt::format("; and {} more rank{}", more, more == 1 ? "" : "s");
}

std::optional<unsigned> EndedRanks::done_rank() const {
  for (const auto& [rank, state] : ranks_)
    if (state.done) return rank;
  return std::nullopt;
}

// True if each rank either saved or is a torchrun that exited 1, as it does after every stop.
bool EndedRanks::may_be_torchruns() const {
  return std::all_of(ranks_.begin(), ranks_.end(), [&](const auto& one) {
    const int code = code_of(one.second);
    return code == 0 || code == k_checkpointed || (code == 1 && is_torchruns(one.second));
  });
}

// True if every rank ended without a failure of its own: the signal killed the program before it
// installed a handler or after it removed it, or we killed it because its time was up. torchrun
// exits 1 whatever its workers did: they may have finished up to 5 s before it checks them. While
// it waits for the torchrun of another node to end, it handles no signal.
bool EndedRanks::all_ended_by_stop() const {
  if (ranks_.empty()) return false;
  return std::all_of(ranks_.begin(), ranks_.end(), [&](const auto& one) {
    const int code = code_of(one.second);
    return code == 0 || code == 128 + stop_signal_ || is_overdue(one.second) ||
           (code == 1 && is_torchruns(one.second));
  });
}

// True if each rank saved, or had not ended when its time was up: Lightning trains on after it has
// saved, until Slurm ends the job.
bool EndedRanks::may_have_saved_and_gone_on() const {
  return std::all_of(ranks_.begin(), ranks_.end(), [&](const auto& one) {
    const int code = code_of(one.second);
    return code == 0 || code == k_checkpointed || is_overdue(one.second);
  });
}

run::Outcome EndedRanks::outcome_of_stop(const AskedStop& stop,
                                         const std::optional<run::Outcome>& failure) const {
  const bool saved = !ranks_.empty() && has_all(0, k_checkpointed);
  const bool ended = !saved && stop.programs_informed && !failure && all_ended_by_stop();
  if (const auto done = done_rank(); done && ended)
    return {run::Cause::completed,
            0,
            fmt::format("the stop ended a program that was done, as {} had reported",
                        ranks_.where(*done))};
  // The failure is the reason why the others were killed.
  const std::string unsaved =
      failure ? ": " + failure->detail : describe_unsaved(stop.programs_informed);
  run::Outcome outcome{
      stop.cause,
      exit_code_of(stop),
      stop.detail + (saved ? "; every rank saved" : "; not every rank saved" + unsaved)};
  outcome.unsaved = !saved;
  if (!saved) outcome.unsaved_rank = failure ? failure->rank : unsaved_rank();
  if (!saved && stop.programs_informed && !failure && may_be_torchruns())
    outcome.detail_if_saved =
        stop.detail +
        "; torchrun exited 1, as after every stop, and its workers wrote a checkpoint";
  if (!saved && stop.programs_informed && !failure && may_have_saved_and_gone_on()) {
    outcome.detail_if_saved = stop.detail +
                              "; a checkpoint was written after that, and not every rank ended in "
                              "time" +
                              unsaved;
    outcome.goes_on = true;
  }
  outcome.may_be_done = ended;
  return outcome;
}

// Exit code 0 means "done" if nobody asked the programs to stop. After a request
// it can also mean "saved", so the run is done only if a rank ended before the
// request or reported that it is done.
run::Outcome EndedRanks::outcome_of_zeros(const std::optional<AskedStop>& stop) const {
  if (!stop || !stop->programs_informed) return {run::Cause::completed, 0, "every rank exited 0"};
  if (const auto done = done_rank())
    return {
        run::Cause::completed,
        0,
        fmt::format("every rank exited 0, and {} reported that it was done", ranks_.where(*done))};
  for (const auto& [rank, state] : ranks_)
    if (state.ended_unrequested)
      return {
          run::Cause::completed,
          0,
          fmt::format("every rank exited 0, {} before it was asked to stop", ranks_.where(rank))};
  run::Outcome outcome{stop->cause, exit_code_of(*stop), stop->detail + "; every rank exited 0"};
  outcome.may_be_done = true;
  return outcome;
}

}  // namespace dts::launch
