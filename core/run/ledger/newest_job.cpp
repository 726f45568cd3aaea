// SPDX-License-Identifier: Apache-2.0
#include "core/run/ledger/newest_job.hpp"

#include <algorithm>

namespace dts::run {

JobId newest_job(const std::vector<Event>& events) {
  const auto event = std::find_if(
      events.rbegin(), events.rend(), [](const Event& one) { return !one.job.empty(); });
  return event == events.rend() ? JobId() : event->job;
}

}  // namespace dts::run
