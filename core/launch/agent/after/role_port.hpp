// SPDX-License-Identifier: Apache-2.0
// Whether a role that others wait for listens at its port yet.
#pragma once

#include "core/spec/job_spec.hpp"

#include <chrono>
#include <string>
#include <utility>
#include <vector>

namespace dts::launch {

class RolePort {
 public:
  using Clock = std::chrono::steady_clock;

  // The port that `part` waits for, in `variables` of the roles; no port if it waits for none. A
  // wait ends after the part's --start-timeout, so that its program shows what is wrong.
  RolePort(const spec::Part& part,
           const std::vector<std::pair<std::string, std::string>>& variables);

  // True if something listens there, or if there is no port or no more time to wait. Tries to
  // connect at most once a second, which takes 200 ms at most.
  [[nodiscard]] bool is_open();

 private:
  std::string host_;
  unsigned port_ = 0;  // 0: none
  Clock::time_point next_try_;
  Clock::time_point give_up_;
};

}  // namespace dts::launch
