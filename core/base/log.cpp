// SPDX-License-Identifier: Apache-2.0
#include "core/base/log.hpp"

#include "core/base/units.hpp"

#include <unistd.h>

#include <chrono>
#include <string>

namespace dts {

void log_line(std::string_view text) {
  std::string line = format_utc(std::chrono::system_clock::now());
  line += ' ';
  line += text;
  line += '\n';
  // A log that cannot be written must not stop the job.
  [[maybe_unused]] const ssize_t written = ::write(STDERR_FILENO, line.data(), line.size());
}

}  // namespace dts
