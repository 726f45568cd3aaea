// SPDX-License-Identifier: Apache-2.0
#include "core/run/summary/lost_gpu.hpp"

#include "core/run/summary/evidence.hpp"

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

Outcome settle_unseen_gpu(Outcome outcome, const RunDirectory& run, bool works) {
  if (outcome.cause != Cause::user_exit || !misses_a_gpu(outcome.detail)) return outcome;
  if (!works) {
    const auto events = read_ledger(run.ledger());
    if (!events || !has_worked(*events)) return outcome;
  }
  outcome.cause = Cause::gpu_error;
  outcome.detail += "; it had worked before";
  return outcome;
}

}  // namespace dts::run
