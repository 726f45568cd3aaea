// SPDX-License-Identifier: Apache-2.0
// Detects that a run directory vanishes under an agent: removed, moved, unmounted, or replaced.
#pragma once

#include "core/run/directory/run_directory.hpp"

#include <sys/types.h>

#include <string>

namespace dts::run {

// The message that says that the run directory has vanished.
[[nodiscard]] std::string vanished_words(const RunDirectory& run);

class Presence {
 public:
  // Watches the folder that exists now.
  explicit Presence(const RunDirectory& run);

  // False once two checks in a row have found no folder at the run's path, a different folder, or
  // no ledger in it. A single failure may be a file server's hiccup. Blocks like stat(2).
  [[nodiscard]] bool poll();

  // Two checks at once, for an answer that does not wait for the next poll(): false if both failed.
  [[nodiscard]] bool is_present_now();

 private:
  [[nodiscard]] bool is_there();

  RunDirectory run_;
  dev_t device_ = 0;
  ino_t inode_ = 0;
  bool has_ledger_ = false;
  unsigned misses_ = 0;
};

}  // namespace dts::run
