// SPDX-License-Identifier: Apache-2.0
#include "core/run/summary/lost_gpu.hpp"

#include "core/run/summary/evidence.hpp"

#include <algorithm>
#include <map>
#include <string>

namespace dts::run {

bool has_worked(const std::vector<Event>& events) {
  bool worked = false;
  std::map<unsigned, std::string> begun;  // by attempt: the checkpoint that it began with
  for (const Event& event : events) {
    if (event.is<Resumed>()) worked = false;
    if (const auto* started = event.as<AttemptStarted>())
      begun[event.attempt] = started->checkpoint;
    if (const auto* ended = event.as<AttemptEnded>())
      worked = worked || ended->saved || ended->step.value_or(0) > 0 ||
               is_later_checkpoint(ended->checkpoint, begun[event.attempt]);
  }
  return worked;
}

bool has_missed_gpus(const std::vector<Event>& events) {
  return std::any_of(events.begin(), events.end(), [](const Event& event) {
    const auto* ended = event.as<AttemptEnded>();
    return ended != nullptr && ended->cause == Cause::gpu_unseen;
  });
}

Outcome settle_unseen_gpu(Outcome outcome, const RunDirectory& run, bool works, bool may_see_more) {
  if (outcome.cause != Cause::user_exit || !misses_a_gpu(outcome.detail)) return outcome;
  const auto events = read_ledger(run.ledger());
  if (works || (events && has_worked(*events))) {
    outcome.cause = Cause::gpu_error;
    outcome.detail += "; it had worked before";
  } else if (may_see_more && asks_for_unseen_gpu(outcome.detail)) {
    outcome.cause = Cause::gpu_unseen;
    outcome.detail += "; the next attempt shows each rank all GPUs of its node";
  }
  return outcome;
}

}  // namespace dts::run
