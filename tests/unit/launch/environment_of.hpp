// SPDX-License-Identifier: Apache-2.0
// A made-up environment as a Lookup.
#pragma once

#include "core/base/os/environment.hpp"
#include "core/launch/launcher/identity.hpp"

#include <map>
#include <string>
#include <utility>

namespace dts::launch {

using Environment = std::map<std::string, std::string>;

inline Lookup environment_of(Environment variables) {
  return [variables = std::move(variables)](const char* name) -> std::optional<std::string> {
    const auto found = variables.find(name);
    return found == variables.end() ? std::nullopt : std::optional(found->second);
  };
}

}  // namespace dts::launch
