// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <utility>

namespace dts {

// The first and the last port that the kernel gives to outgoing connections (ip(7),
// ip_local_port_range); its default, 32768 to 60999, where that cannot be read.
[[nodiscard]] std::pair<unsigned, unsigned> ephemeral_ports();

}  // namespace dts
