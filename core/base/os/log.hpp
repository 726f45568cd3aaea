// SPDX-License-Identifier: Apache-2.0
// Output on standard error: the log of a long-running process (agent, rank), one line per event
// that begins with the UTC time, and messages for people. Neither can fail: a stream that is
// closed, or whose disk is full or read-only, must not end a job or a command. Thread-safe.
#pragma once

#include <fmt/core.h>

#include <string_view>
#include <utility>

namespace dts {

// From now on, `fd` receives the output that standard error rejects; -1: it is dropped. Not owned.
void set_second_log(int fd);

// Writes "TIME text\n" with one write(2), each line of it through printable().
void log_line(std::string_view text);

// Writes `text` unchanged with one write(2).
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
