// SPDX-License-Identifier: Apache-2.0
#include "core/run/directory/log_follower.hpp"

#include "core/base/files/files.hpp"
#include "core/base/files/own_file.hpp"

#include <unistd.h>

#include <algorithm>
#include <string_view>

namespace dts::run {
namespace {

// The end of the last line, or state of a progress bar, of a text that goes on; its size if it is
// within one. A return at the very end may be that of "\r\n".
std::size_t end_of_lines(std::string_view text) {
  const std::size_t last = text.substr(0, text.size() - 1).find_last_of("\r\n");
  return text.back() == '\n' || last == std::string_view::npos ? text.size() : last + 1;
}

}  // namespace

Result<bool> LogFollower::copy_to(int fd, std::uint64_t limit, Clock::time_point now) {
  return copy(fd, limit, prefix_.empty() ? Lines::any : Lines::whole, now);
}

Result<void> LogFollower::copy_rest(int fd) {
  DTS_TRY(copy(fd, UINT64_MAX, Lines::any, Clock::now()));
  return {};
}

// The end of the last complete state of a text without a newline; 0 if none is to be written now.
std::size_t LogFollower::end_of_states(std::string_view text, Clock::time_point now) {
  const std::size_t last = text.substr(0, text.size() - 1).rfind('\r');
  if (last == std::string_view::npos || last == 0 || now < next_bar_) return 0;
  next_bar_ = now + k_bar_pause;
  return last + 1;
}

Result<bool> LogFollower::copy(int fd, std::uint64_t limit, Lines lines, Clock::time_point now) {
  const auto file = open_own_file(path_, Others::may_write);
  if (!file) return false;
  char block[65536];
  const std::uint64_t end = limit > UINT64_MAX - offset_ ? UINT64_MAX : offset_ + limit;
  bool any = false;
  while (offset_ < end) {
    const ssize_t n = ::pread(file->get(), block, sizeof block, static_cast<off_t>(offset_));
    if (n <= 0) return any;
    std::string_view text(block, static_cast<std::size_t>(n));
    if (lines == Lines::whole && text.size() < sizeof block) {
      const std::size_t newline = text.rfind('\n');
      const bool has_line = newline != std::string_view::npos;
      text = text.substr(0, has_line ? newline + 1 : end_of_states(text, now));
    } else if (text.size() == sizeof block)
      text = text.substr(0, end_of_lines(text));
    if (text.empty()) return any;
    any = true;
    offset_ += text.size();
    DTS_TRY(write_whole(
        fd, prefix_.empty() ? std::string(text) : prefixed(text), "a copy of " + path_));
  }
  return any;
}

// A progress bar returns to the beginning of its line, and would write over a prefix there.
std::string LogFollower::prefixed(std::string_view text) const {
  std::string result;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find_first_of("\r\n"), text.size() - 1);
    const std::size_t length = text.substr(end).starts_with("\r\n") ? end + 2 : end + 1;
    result.append(prefix_).append(text.substr(0, length));
    text.remove_prefix(length);
  }
  if (result.back() != '\n') result += '\n';  // a line longer than a block is written in pieces
  return result;
}

}  // namespace dts::run
