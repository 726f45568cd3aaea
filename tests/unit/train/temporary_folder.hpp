// SPDX-License-Identifier: Apache-2.0
// A folder that is removed after the test.
#pragma once

#include "core/base/files/files.hpp"

#include <cstdlib>
#include <string>

struct TemporaryFolder {
  std::string path;

  TemporaryFolder() {
    char name[] = "/tmp/dts_train_XXXXXX";
    path = mkdtemp(name) != nullptr ? name : "";
  }

  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  ~TemporaryFolder() { (void)dts::remove_all(path); }
};
