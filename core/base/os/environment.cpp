// SPDX-License-Identifier: Apache-2.0
#include "core/base/os/environment.hpp"

#include <unistd.h>

#include <cstdlib>

namespace dts {

std::optional<std::string> getenv_lookup(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr ? std::optional<std::string>(value) : std::nullopt;
}

std::vector<std::string> environment_entries() {
  std::vector<std::string> entries;
  for (char** entry = environ; *entry != nullptr; ++entry) entries.emplace_back(*entry);
  return entries;
}

std::string_view variable_name(std::string_view entry) {
  return entry.substr(0, entry.find('='));
}

}  // namespace dts
