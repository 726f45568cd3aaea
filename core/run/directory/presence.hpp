// SPDX-License-Identifier: Apache-2.0
// Notices that a run directory vanishes under an agent: removed, moved, unmounted, or replaced.
#pragma once

#include "core/run/directory/run_directory.hpp"

#include <sys/types.h>

#include <string>

namespace dts::run {

// The message about a folder that has vanished.
[[nodiscard]] std::string vanished_words(const RunDirectory& run);

class Presence {
 public:
  // Watches the folder that exists now.
  explicit Presence(const RunDirectory& run);

  // False once two looks in a row have found no folder under the run's name, another folder, or
  // that its ledger has disappeared: a single look may be a file server's hiccup. Blocks as stat(2)
  // does.
  [[nodiscard]] bool look();

 private:
  [[nodiscard]] bool is_there();

  RunDirectory run_;
  dev_t device_ = 0;
  ino_t inode_ = 0;
  bool has_ledger_ = false;
  unsigned misses_ = 0;
};

}  // namespace dts::run
