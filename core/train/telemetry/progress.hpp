// SPDX-License-Identifier: Apache-2.0
// Shows the progress of a training on one line of a terminal, which it rewrites.
// Not thread-safe.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

namespace dts::train {

class Progress {
 public:
  using Clock = std::chrono::steady_clock;

  // Shows nothing unless standard output is a terminal.
  void begin(std::uint64_t step, std::uint64_t total);

  // Shows the state after `step` steps, with `details`; at most ten times per second.
  void show(std::uint64_t step, const std::string& details);

  // Must be called before anything else is written.
  void hide();

 private:
  bool active_ = false;
  bool visible_ = false;
  std::uint64_t first_ = 0;
  std::uint64_t total_ = 0;
  Clock::time_point begun_;
  Clock::time_point shown_;
};

// "step 120/1000  12 %  loss 2.3  0:04:12 left", truncated to `columns`. `seconds` is the time of
// the steps after `first`. Pure.
struct ProgressLine {
  std::uint64_t first = 0;
  std::uint64_t step = 0;
  std::uint64_t total = 0;
  double seconds = 0;
};

[[nodiscard]] std::string progress_line(const ProgressLine& how_far,
                                        const std::string& details,
                                        std::size_t columns);

}  // namespace dts::train
