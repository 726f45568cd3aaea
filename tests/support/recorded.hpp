// SPDX-License-Identifier: Apache-2.0
// Recorded topologies of real machines, in addition to the described ones (described.hpp).
// Optional: in the folder that DTS_TOPOLOGIES names, or beside the project.
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

// Returns false, with a message, if the folder, or this file in it, does not exist.
inline bool have_recorded(const std::string& file = "") {
  if (exists(k_recorded + file)) return true;
  MESSAGE("skipped, as far as recorded topologies go: there is no " << k_recorded << file
                                                                    << " (see DTS_TOPOLOGIES)");
  return false;
}

// All files, including those in subfolders, sorted; empty, with a message, if there are none.
inline std::vector<std::string> recorded_files() {
  std::vector<std::string> files;
  if (!have_recorded()) return files;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(k_recorded))
    if (entry.path().extension() == ".xml") files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  return files;
}

}  // namespace dts::tests
