// SPDX-License-Identifier: Apache-2.0
// Output on standard error: the log of a long-running process (agent, rank), one line per event
// that begins with the UTC time, and messages for a person. Neither can fail: a stream that is
// closed, or whose disk is full or read-only, must end neither a job nor a command. Thread-safe.
#pragma once

#include <fmt/core.h>

#include <string_view>
#include <utility>

namespace dts {

// Takes what standard error does not, from now on; -1: nothing does. Not owned.
void set_second_log(int fd);

// Writes "TIME text\n" with one write(2), each of its lines as printable() shows it.
void log_line(std::string_view text);

// Writes `text` as it is with one write(2).
void tell_words(std::string_view text);

template <class... Args>
void log(fmt::format_string<Args...> format, Args&&... args) {
  log_line(fmt::format(format, std::forward<Args>(args)...));
}

// A message for a person, without a time; the text must end with a newline. (fmt::print throws if
// it cannot write.)
template <class... Args>
void tell(fmt::format_string<Args...> format, Args&&... args) {
  tell_words(fmt::format(format, std::forward<Args>(args)...));
}

}  // namespace dts
