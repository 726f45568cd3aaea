// SPDX-License-Identifier: Apache-2.0
// Output to standard error: the log of a long-running process (agent, rank), with one line per
// event that begins with the UTC time, and messages for users. Neither can fail: a stream that is
// closed, or whose disk is full or read-only, must not end a job or a command. Thread-safe.
#pragma once

#include <fmt/core.h>

#include <string_view>
#include <utility>

namespace dts {

// From now on, `fd` receives output that standard error rejects; -1: it is dropped. Not owned.
void set_second_log(int fd);

// Writes "TIME text\n" with one write(2), each line of it through printable().
void log_line(std::string_view text);

// Writes `text` unchanged with one write(2).
void tell_words(std::string_view text);

template <class... Args>
void log(fmt::format_string<Args...> format, Args&&... args) {
  log_line(fmt::format(format, std::forward<Args>(args)...));
}

// Writes a message for users, without a time; the text must end with a newline. (fmt::print throws
// if it cannot write.)
template <class... Args>
void tell(fmt::format_string<Args...> format, Args&&... args) {
  tell_words(fmt::format(format, std::forward<Args>(args)...));
}

}  // namespace dts
