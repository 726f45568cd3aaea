// SPDX-License-Identifier: Apache-2.0
#include "core/run/log_follower.hpp"

#include "core/base/unique_fd.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <string_view>

namespace dts::run {
namespace {

void write_all(int fd, std::string_view text) {
  while (!text.empty()) {
    const ssize_t n = ::write(fd, text.data(), text.size());
    if (n <= 0) return;  // a terminal that is gone stops the copy, not the job
    text.remove_prefix(static_cast<std::size_t>(n));
  }
}

}  // namespace

bool LogFollower::copy_to(int fd) {
  const UniqueFd file(::open(path_.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file.valid()) return false;
  char block[65536];
  bool any = false;
  while (true) {
    const ssize_t n = ::pread(file.get(), block, sizeof block, static_cast<off_t>(offset_));
    if (n <= 0) return any;
    any = true;
    offset_ += static_cast<std::uint64_t>(n);
    const std::string_view text(block, static_cast<std::size_t>(n));
    if (prefix_.empty()) {
      write_all(fd, text);
      continue;
    }
    std::string prefixed;
    for (const char c : text) {
      if (at_line_start_) prefixed += prefix_;
      prefixed += c;
      at_line_start_ = c == '\n';
    }
    write_all(fd, prefixed);
  }
}

}  // namespace dts::run
