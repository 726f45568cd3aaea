// SPDX-License-Identifier: Apache-2.0
#include "core/base/os/environment.hpp"

#include <cstdlib>

namespace dts {

std::optional<std::string> getenv_lookup(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr ? std::optional<std::string>(value) : std::nullopt;
}

}  // namespace dts
