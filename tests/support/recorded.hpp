// SPDX-License-Identifier: Apache-2.0
// Recorded topologies of real machines beside those that the project describes itself
// (described.hpp): an extra, in the folder that DTS_TOPOLOGIES names or beside the project.
#pragma once

#include "core/base/files/files.hpp"

#include <doctest/doctest.h>

#include <cstdlib>
#include <string>

namespace dts::tests {

inline const std::string k_recorded = std::getenv("DTS_TOPOLOGIES") != nullptr
                                          ? std::string(std::getenv("DTS_TOPOLOGIES")) + "/"
                                          : std::string(DTS_SOURCE_DIR) + "/../shared/topologies/";

// False, saying why, where the folder or this file of it is not here.
inline bool have_recorded(const std::string& file = "") {
  if (exists(k_recorded + file)) return true;
  MESSAGE("skipped, as far as recorded topologies go: there is no " << k_recorded << file
                                                                    << " (see DTS_TOPOLOGIES)");
  return false;
}

}  // namespace dts::tests
