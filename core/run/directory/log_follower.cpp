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

Result<bool> LogFollower::copy_to(int fd, std::uint64_t limit) {
  return copy(fd, limit, prefix_.empty() ? Lines::any : Lines::whole);
}

Result<void> LogFollower::copy_rest(int fd) {
  DTS_TRY(copy(fd, UINT64_MAX, Lines::any));
  return {};
}

Result<bool> LogFollower::copy(int fd, std::uint64_t limit, Lines lines) {
  const auto file = open_own_file(path_, Others::may_write);
  if (!file) return false;
  char block[65536];
  const std::uint64_t end = limit > UINT64_MAX - offset_ ? UINT64_MAX : offset_ + limit;
  bool any = false;
  while (offset_ < end) {
    const ssize_t n = ::pread(file->get(), block, sizeof block, static_cast<off_t>(offset_));
    if (n <= 0) return any;
    std::string_view text(block, static_cast<std::size_t>(n));
    if (lines == Lines::whole && text.size() < sizeof block)
      text = text.substr(0, text.rfind('\n') + 1);  // npos + 1 is 0: no whole line yet
    else if (text.size() == sizeof block)
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
