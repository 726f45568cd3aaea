// SPDX-License-Identifier: Apache-2.0
#include "core/base/os/log.hpp"

#include "core/base/text/text.hpp"
#include "core/base/text/units.hpp"
#include "core/base/text/utf8.hpp"

#include <unistd.h>

#include <atomic>
#include <chrono>
#include <string>

namespace dts {
namespace {

std::atomic<int> second_log{-1};

bool write_to(int fd, std::string_view text) {
  return ::write(fd, text.data(), text.size()) == static_cast<ssize_t>(text.size());
}

}  // namespace

void log_line(std::string_view text) {
  constexpr std::size_t k_longest = 4000;  // text of launchers and programs is included
  std::string line = format_utc(std::chrono::system_clock::now());
  line += ' ';
  for (const std::string& part : split(text, '\n')) line += printable(part, k_longest) + '\n';
  tell_words(line);
}

void set_second_log(int fd) {
  second_log = fd;
}

void tell_words(std::string_view text) {
  if (write_to(STDERR_FILENO, text)) return;
  if (const int other = second_log; other >= 0) write_to(other, text);
}

}  // namespace dts
