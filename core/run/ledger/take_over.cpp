// SPDX-License-Identifier: Apache-2.0
#include "core/run/ledger/take_over.hpp"

namespace dts::run {
namespace {

// How the agent of attempt `lost` ended. One that its guard replaced was in the same job.
std::string loss_words(const RunDirectory& run, unsigned lost, const Lease& lease) {
  const auto before = read_lease(run, lost);
  const bool same_job = before && !lease.job.empty() && before->job == lease.job &&
                        before->restart_count == lease.restart_count;
  return same_job ? "its agent was killed, and another one took over in the same job"
                  : "its agent recorded no end: killed, or its node was lost";
}

}  // namespace

Result<TakenAttempt> take_over(const RunDirectory& run, const Lease& lease) {
  TakenAttempt taken;
  DTS_ASSIGN(taken.number, take_attempt(run, to_json(lease)));
  DTS_ASSIGN(const auto events, read_ledger(run.ledger()));
  taken.record = failure_record(events);
  if (const auto lost = unfinished_attempt(events); lost && *lost < taken.number) {
    ++taken.record.failures;
    AttemptEnded ended{.cause = Cause::agent_lost, .detail = loss_words(run, *lost, lease)};
    DTS_TRY(append_event(run.ledger(), {.attempt = *lost, .what = std::move(ended)}));
  }
  return taken;
}

}  // namespace dts::run
