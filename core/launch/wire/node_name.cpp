// SPDX-License-Identifier: Apache-2.0
#include "core/launch/wire/node_name.hpp"

namespace dts::launch {

std::string node_name(const Lookup& lookup, const std::string& host) {
  const auto name = lookup("SLURMD_NODENAME");
  return name && !name->empty() ? *name : host;
}

}  // namespace dts::launch
