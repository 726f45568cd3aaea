// SPDX-License-Identifier: Apache-2.0
#include "core/run/directory/log_follower.hpp"

#include "core/base/files/own_file.hpp"

#include <unistd.h>

#include <algorithm>
#include <string_view>

namespace dts::run {
namespace {

void write_all(int fd, std::string_view text) {
  while (!text.empty()) {
    const ssize_t n = ::write(fd, text.data(), text.size());
    if (n <= 0) return;  // a lost terminal stops the copy, not the job
    text.remove_prefix(static_cast<std::size_t>(n));
  }
}

}  // namespace

bool LogFollower::copy_to(int fd, std::uint64_t limit) {
  return copy(fd, limit, prefix_.empty() ? Lines::any : Lines::whole);
}

void LogFollower::copy_rest(int fd) {
  copy(fd, UINT64_MAX, Lines::any);
}

bool LogFollower::copy(int fd, std::uint64_t limit, Lines lines) {
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
    if (text.empty()) return any;
    any = true;
    offset_ += text.size();
    write_all(fd, prefix_.empty() ? std::string(text) : prefixed(text));
  }
  return any;
}

std::string LogFollower::prefixed(std::string_view text) const {
  std::string result;
  while (!text.empty()) {
    const std::size_t length = std::min(text.find('\n'), text.size() - 1) + 1;
    result.append(prefix_).append(text.substr(0, length));
    text.remove_prefix(length);
  }
  if (result.back() != '\n') result += '\n';  // a line longer than a block is written in pieces
  return result;
}

}  // namespace dts::run
