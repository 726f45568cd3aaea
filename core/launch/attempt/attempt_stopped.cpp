// SPDX-License-Identifier: Apache-2.0
// What has become of an attempt whose ranks were asked to stop and have ended: saved, done, or not.
#include "core/launch/attempt/attempt.hpp"
#include "core/launch/attempt/exit_code.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <csignal>

namespace dts::launch {

// ": rank 3 on n1 was killed by SIGTERM, which its program does not handle; and 2 more ranks"
std::string Attempt::name_unsaved() const {
  if (failure_) return ": " + failure_->detail;  // which is why the others were killed
  std::string words;
  unsigned more = 0;
  for (const auto& [rank, state] : ranks_) {
    const int code = state.exit_code.value_or(128 + SIGKILL);
    if (code == 0 || code == k_checkpointed) continue;
    if (!words.empty()) {
      ++more;
      continue;
    }
    const bool overdue = code == 128 + SIGKILL && state.told_to_die;
    words = overdue ? fmt::format(": {} had not ended when its time was over", where(rank))
                    : fmt::format(": {} {}", where(rank), describe_exit(code));
    if (stop_news_given_ && code == 128 + settings_.stop_signal)
      words += ", which its program does not handle";
  }
  return more == 0 ? words
                   : words + fmt::format("; and {} more rank{}", more, more == 1 ? "" : "s");
}

std::optional<unsigned> Attempt::done_rank() const {
  for (const auto& [rank, state] : ranks_)
    if (state.done) return rank;
  return std::nullopt;
}

// Every rank ended, but not with a failure of its own: the signal killed it before its program
// handled it or after it had stopped doing so, or we did when its time was over. torchrun exits 1,
// whatever its workers did: they may have been done for up to 5 s before it looks; and where it
// waits for the one of another node to end, it hears no signal.
bool Attempt::is_ended_by_stop() const {
  if (!stop_news_given_ || failure_ || ranks_.empty()) return false;
  const bool torchrun = settings_.plan.workers_per_task > 0;
  return std::all_of(ranks_.begin(), ranks_.end(), [&](const auto& one) {
    const int code = one.second.exit_code.value_or(128 + SIGKILL);
    const bool overdue = code == 128 + SIGKILL && one.second.told_to_die;
    return code == 0 || code == 128 + settings_.stop_signal || overdue || (torchrun && code == 1);
  });
}

run::Outcome Attempt::end_of_stop(bool saved) const {
  const bool ended = !saved && is_ended_by_stop();
  if (const auto done = done_rank(); done && ended)
    return {run::Cause::completed,
            0,
            fmt::format("the stop ended a program that was done, as {} had said", where(*done))};
  const std::string end = saved ? "; every rank saved" : "; not every rank saved" + name_unsaved();
  run::Outcome outcome{*stop_cause_,
                       *stop_cause_ == run::Cause::wrong_binding ? k_wrong : k_checkpointed,
                       stop_detail_ + end};
  outcome.unsaved = !saved;
  outcome.may_be_done = ended;
  return outcome;
}

// Exit code 0 says "done" where nobody asked the programs to stop. After that it may as well be
// "saved": it is done only where a rank had ended before, or said so.
run::Outcome Attempt::end_of_zeros() const {
  if (!stop_news_given_) return {run::Cause::completed, 0, "every rank exited 0"};
  if (const auto done = done_rank())
    return {run::Cause::completed,
            0,
            fmt::format("every rank exited 0, and {} said that it is done", where(*done))};
  for (const auto& [rank, state] : ranks_)
    if (state.ended_unasked)
      return {run::Cause::completed,
              0,
              fmt::format("every rank exited 0, {} before it was asked to stop", where(rank))};
  run::Outcome outcome{*stop_cause_, k_checkpointed, stop_detail_ + "; every rank exited 0"};
  if (*stop_cause_ == run::Cause::wrong_binding) outcome.exit_code = k_wrong;
  outcome.may_be_done = true;
  return outcome;
}

}  // namespace dts::launch
