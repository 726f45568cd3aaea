// SPDX-License-Identifier: Apache-2.0
#include "core/run/events.hpp"

namespace dts::run {

Event ended_event(const Outcome& outcome) {
  Event event{.event = "attempt_ended",
              .cause = to_string(outcome.cause),
              .exit_code = outcome.exit_code,
              .detail = outcome.detail};
  if (outcome.rank) event.rank = static_cast<int>(*outcome.rank);
  event.node = outcome.node;
  event.unsaved = outcome.unsaved;
  return event;
}

Event decided_event(const Decision& decision) {
  return {.event = "decided",
          .exit_code = decision.exit_code,
          .decision = to_string(decision.action),
          .detail = decision.why};
}

}  // namespace dts::run
