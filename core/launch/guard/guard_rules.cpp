// SPDX-License-Identifier: Apache-2.0
#include "core/launch/guard/guard_rules.hpp"

#include <sys/wait.h>

namespace dts::launch {

NextStep after_agent(int wait_status, unsigned kills) {
  if (!WIFSIGNALED(wait_status)) return NextStep::exit;
  return kills < k_most_kills ? NextStep::start_agent : NextStep::die;
}

std::chrono::seconds time_for_orphans(bool signal_waits) {
  return std::chrono::seconds(signal_waits ? 10 : 30);
}

}  // namespace dts::launch
