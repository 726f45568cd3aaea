// SPDX-License-Identifier: Apache-2.0
// Recorded topologies of real machines beside those that the project describes itself
// (described.hpp): an extra, in the folder that DTS_TOPOLOGIES names or beside the project.
#pragma once

#include "core/base/files/files.hpp"
#include "tests/support/source_dir.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

namespace dts::tests {

inline const std::string k_recorded = std::getenv("DTS_TOPOLOGIES") != nullptr
                                          ? std::string(std::getenv("DTS_TOPOLOGIES")) + "/"
                                          : in_source("../shared/topologies/");

// False, saying why, where the folder or this file of it is not here.
inline bool have_recorded(const std::string& file = "") {
  if (exists(k_recorded + file)) return true;
  MESSAGE("skipped, as far as recorded topologies go: there is no " << k_recorded << file
                                                                    << " (see DTS_TOPOLOGIES)");
  return false;
}

// All of them, those in folders below as well, by name; empty, saying why, where there are none.
inline std::vector<std::string> recorded_files() {
  std::vector<std::string> files;
  if (!have_recorded()) return files;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(k_recorded))
    if (entry.path().extension() == ".xml") files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  return files;
}

}  // namespace dts::tests
