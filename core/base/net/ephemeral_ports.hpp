// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <utility>

namespace dts {

// The first and last port that the kernel uses for outgoing connections (ip(7),
// ip_local_port_range); its default, 32768 to 60999, if that cannot be read.
[[nodiscard]] std::pair<unsigned, unsigned> ephemeral_ports();

}  // namespace dts
