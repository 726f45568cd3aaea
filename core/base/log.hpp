// SPDX-License-Identifier: Apache-2.0
// The log of a long-running process of ours (agent, rank): one line an event, UTC time first.
#pragma once

#include <fmt/core.h>

#include <string_view>
#include <utility>

namespace dts {

// Writes "TIME text\n" to standard error with one write(2). Thread-safe.
void log_line(std::string_view text);

template <class... Args>
void log(fmt::format_string<Args...> format, Args&&... args) {
  log_line(fmt::format(format, std::forward<Args>(args)...));
}

}  // namespace dts
