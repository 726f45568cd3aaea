// SPDX-License-Identifier: Apache-2.0
// How fast one rank's program is, from what it writes into its heartbeat page. Pure.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>

namespace dts::launch {

// Durations in milliseconds. They are medians, because one slow step or save does not make a slow
// rank. 0: not reported, or too few observations yet.
struct Pace {
  std::uint64_t save = 0;   // median of the last five checkpoints
  unsigned saves = 0;       // saves seen so far
  std::uint64_t work = 0;   // median of the last steps seen: 20, or 5 or more over half a minute
  std::uint64_t input = 0;  // the part of these steps that waited for input
  std::uint64_t pause = 0;  // longest time between two heartbeats: no response to a stop

  [[nodiscard]] bool operator==(const Pace&) const = default;
};

class PaceWatch {
 public:
  using Time = std::chrono::steady_clock::time_point;

  static constexpr std::size_t k_steps = 20;
  static constexpr std::size_t k_fewest_steps = 5;
  static constexpr std::chrono::seconds k_longest{30};
  static constexpr std::size_t k_saves = 5;

  // Takes the page's current content; call it every second. A step that begins and ends between two
  // calls is missed: the steps that are seen serve as a sample of all.
  void observe(
      std::uint64_t step, std::uint64_t save, std::uint64_t work, std::uint64_t input, Time now);

  // Leaves `pause` at 0: the caller fills in the longest pause that ProgressWatch measured.
  [[nodiscard]] Pace pace() const;

  // True once for the first save, and once when `work` becomes known: other code waits for these.
  [[nodiscard]] bool take_news();

 private:
  struct Step {
    std::uint64_t work;
    std::uint64_t input;
    Time seen;
  };

  [[nodiscard]] bool knows_work() const;

  std::uint64_t step_ = 0;
  std::uint64_t save_ = 0;
  unsigned seen_saves_ = 0;
  std::deque<std::uint64_t> saves_;
  std::deque<Step> steps_;
  bool has_reported_save_ = false;
  bool has_reported_work_ = false;
};

}  // namespace dts::launch
