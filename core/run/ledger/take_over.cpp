// SPDX-License-Identifier: Apache-2.0
#include "core/run/ledger/take_over.hpp"

namespace dts::run {

Result<TakenAttempt> take_over(const RunDirectory& run, const Lease& lease) {
  TakenAttempt taken;
  DTS_ASSIGN(taken.number, take_attempt(run, to_json(lease)));
  DTS_ASSIGN(const auto events, read_ledger(run.ledger()));
  taken.record = failure_record(events);
  if (const auto lost = unfinished_attempt(events); lost && *lost < taken.number) {
    ++taken.record.failures;
    AttemptEnded ended{.cause = Cause::agent_lost,
                       .detail = "its agent recorded no end: killed, or its node was lost"};
    DTS_TRY(append_event(run.ledger(), {.attempt = *lost, .what = std::move(ended)}));
  }
  return taken;
}

}  // namespace dts::run
