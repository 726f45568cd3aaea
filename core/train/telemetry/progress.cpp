// SPDX-License-Identifier: Apache-2.0
#include "core/train/telemetry/progress.hpp"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>

namespace dts::train {
namespace {

constexpr const char* k_erase = "\r\033[K";  // ECMA-48: erase in line

std::size_t columns_of_terminal() {
  winsize size{};
  if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return 80;
  return size.ws_col;
}

void put(const std::string& text) {
  std::fputs(text.c_str(), stdout);
  std::fflush(stdout);
}

}  // namespace

std::string progress_line(const ProgressLine& h, const std::string& details, std::size_t columns) {
  const auto done = static_cast<double>(h.step - h.first);
  const auto left = static_cast<std::uint64_t>(
      done > 0 ? h.seconds / done * static_cast<double>(h.total - h.step) + 0.5 : 0);
  const std::string line = fmt::format("step {}/{}  {} %  {}  {}:{:02}:{:02} left",
                                       h.step,
                                       h.total,
                                       100 * h.step / std::max<std::uint64_t>(1, h.total),
                                       details,
                                       left / 3600,
                                       left / 60 % 60,
                                       left % 60);
  return line.substr(0, columns);
}

void Progress::begin(std::uint64_t step, std::uint64_t total) {
  active_ = ::isatty(STDOUT_FILENO) == 1;
  first_ = step;
  total_ = total;
  begun_ = Clock::now();
}

void Progress::show(std::uint64_t step, const std::string& details) {
  const auto now = Clock::now();
  if (!active_ || now - shown_ < std::chrono::milliseconds(100)) return;
  shown_ = now;
  visible_ = true;
  const double seconds = std::chrono::duration<double>(now - begun_).count();
  // The last column stays free and the cursor returns, so that any other output starts at the
  // beginning of a line.
  put(k_erase + progress_line({first_, step, total_, seconds}, details, columns_of_terminal() - 1) +
      "\r");
}

void Progress::hide() {
  if (!visible_) return;
  visible_ = false;
  put(k_erase);
}

}  // namespace dts::train
