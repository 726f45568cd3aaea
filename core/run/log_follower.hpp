// SPDX-License-Identifier: Apache-2.0
// Copies what a growing file has gained since the last look. One thread at a time.
#pragma once

#include <cstdint>
#include <string>

namespace dts::run {

class LogFollower {
 public:
  // The file may not exist yet. Each line gets `prefix`.
  explicit LogFollower(std::string path, std::string prefix = {})
      : path_(std::move(path)), prefix_(std::move(prefix)) {}

  // Writes what is new to `fd`; true if there was anything.
  bool copy_to(int fd);

 private:
  std::string path_;
  std::string prefix_;
  std::uint64_t offset_ = 0;
  bool at_line_start_ = true;
};

}  // namespace dts::run
