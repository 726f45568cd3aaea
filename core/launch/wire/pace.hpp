// SPDX-License-Identifier: Apache-2.0
// How fast one rank's program is, from what it writes into its heartbeat's page. Pure.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <vector>

namespace dts::launch {

// Milliseconds. Medians, because one slow step or save is not a slow rank; 0: not told, or not long
// enough to be known.
struct Pace {
  std::uint64_t save = 0;   // of the last five checkpoints
  unsigned saves = 0;       // that were seen
  std::uint64_t work = 0;   // of the last steps that were looked at: 20, or 5 in half a minute
  std::uint64_t input = 0;  // likewise, the part of it that waited for input
  std::uint64_t pause = 0;  // the longest one between two beats: who is asked to stop may not
                            // listen for so long

  [[nodiscard]] bool operator==(const Pace&) const = default;
};

// The larger of two in the middle; 0 of none.
[[nodiscard]] std::uint64_t median(std::vector<std::uint64_t> values);

class PaceWatch {
 public:
  using Time = std::chrono::steady_clock::time_point;

  static constexpr std::size_t k_steps = 20;
  static constexpr std::size_t k_fewest_steps = 5;
  static constexpr std::chrono::seconds k_longest{30};
  static constexpr std::size_t k_saves = 5;

  // What stands in the page now; called every second. A step that began and ended between two looks
  // is not seen: the ones that are stand for all.
  void see(
      std::uint64_t step, std::uint64_t save, std::uint64_t work, std::uint64_t input, Time now);

  // The program's longest pause between two beats, as ProgressWatch found it, is the caller's.
  [[nodiscard]] Pace pace() const;

  // True once for the first save, and once for the first time that the work is known: others wait
  // for that.
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
  bool told_save_ = false;
  bool told_work_ = false;
};

}  // namespace dts::launch
