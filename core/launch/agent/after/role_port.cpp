// SPDX-License-Identifier: Apache-2.0
#include "core/launch/agent/after/role_port.hpp"

#include "core/base/net/net.hpp"
#include "core/base/os/log.hpp"
#include "core/base/text/text.hpp"
#include "core/plan/plan.hpp"
#include "core/spec/parts.hpp"

namespace dts::launch {

RolePort::RolePort(const spec::Part& part,
                   const std::vector<std::pair<std::string, std::string>>& variables)
    : next_try_(Clock::now()), give_up_(next_try_ + part.job.start_timeout) {
  if (part.waits_for.empty()) return;
  const std::string prefix = "DTSUBMIT_ROLE_" + spec::variable_name(part.waits_for);
  host_ = plan::value_of(variables, prefix + "_ADDR");
  port_ =
      static_cast<unsigned>(parse_number(plan::value_of(variables, prefix + "_PORT")).value_or(0));
}

bool RolePort::is_open() {
  constexpr std::chrono::milliseconds k_limit{200};
  constexpr std::chrono::seconds k_between{1};
  const auto now = Clock::now();
  if (port_ == 0) return true;
  if (now < next_try_) return false;
  next_try_ = now + k_between;
  if (connect_to(host_, port_, k_limit)) return true;
  if (now < give_up_) return false;
  log("nothing listens at {} port {} yet: waiting no longer (--start-timeout)", host_, port_);
  return true;
}

}  // namespace dts::launch
