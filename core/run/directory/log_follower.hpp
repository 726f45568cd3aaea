// SPDX-License-Identifier: Apache-2.0
// Copies what was appended to a growing file since the last call. For use by one thread at a time.
#pragma once

#include "core/base/result.hpp"

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

namespace dts::run {

class LogFollower {
 public:
  // The file may not exist yet. With a `prefix`, each line, and each state of a progress bar,
  // begins with it; a line is written in one piece of up to 64 KiB, so that several logs can share
  // a terminal. The states of a progress bar, which may take hours to end its line, are written
  // every k_bar_pause, together with a newline.
  explicit LogFollower(std::string path, std::string prefix = {})
      : path_(std::move(path)), prefix_(std::move(prefix)) {}

  using Clock = std::chrono::steady_clock;
  static constexpr std::chrono::seconds k_bar_pause{5};

  // Writes new content to `fd`, at most about `limit` bytes. True if there was any. Error: `fd`
  // takes no more; what it did not take is not written again.
  Result<bool> copy_to(int fd,
                       std::uint64_t limit = UINT64_MAX,
                       Clock::time_point now = Clock::now());

  // Writes all the rest, including a last line without a newline, once the file cannot grow any
  // more. Error: as copy_to().
  Result<void> copy_rest(int fd);

 private:
  enum class Lines { whole, any };
  Result<bool> copy(int fd, std::uint64_t limit, Lines lines, Clock::time_point now);
  std::size_t end_of_states(std::string_view text, Clock::time_point now);
  [[nodiscard]] std::string prefixed(std::string_view text) const;

  std::string path_;
  std::string prefix_;
  std::uint64_t offset_ = 0;
  Clock::time_point next_bar_{};  // not before
};

}  // namespace dts::run
