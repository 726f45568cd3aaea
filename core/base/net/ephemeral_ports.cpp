// SPDX-License-Identifier: Apache-2.0
#include "core/base/net/ephemeral_ports.hpp"

#include "core/base/files/files.hpp"

#include <sstream>

namespace dts {

std::pair<unsigned, unsigned> ephemeral_ports() {
  std::pair<unsigned, unsigned> range{32768, 60999};
  if (const auto text = read_file("/proc/sys/net/ipv4/ip_local_port_range"))
    std::istringstream(*text) >> range.first >> range.second;
  return range;
}

}  // namespace dts
