// SPDX-License-Identifier: Apache-2.0
// How fast one rank's program is, from what it writes into its heartbeat page. Pure.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>

namespace dts::launch {

// Milliseconds. Medians, because one slow step or save does not make a slow rank; 0: not reported,
// or not yet long enough to be known.
struct Pace {
  std::uint64_t save = 0;   // of the last five checkpoints
  unsigned saves = 0;       // saves that were seen
  std::uint64_t work = 0;   // of the last steps that were seen: 20, or 5 within half a minute
  std::uint64_t input = 0;  // of the same steps, the part that waited for input
  std::uint64_t pause = 0;  // the longest between two beats: no response to a stop meanwhile

  [[nodiscard]] bool operator==(const Pace&) const = default;
};

class PaceWatch {
 public:
  using Time = std::chrono::steady_clock::time_point;

  static constexpr std::size_t k_steps = 20;
  static constexpr std::size_t k_fewest_steps = 5;
  static constexpr std::chrono::seconds k_longest{30};
  static constexpr std::size_t k_saves = 5;

  // The page's present content; called every second. A step that began and ended between two looks
  // is not seen: those that are seen represent all.
  void see(
      std::uint64_t step, std::uint64_t save, std::uint64_t work, std::uint64_t input, Time now);

  // The caller adds the program's longest pause between two beats, as ProgressWatch measured it.
  [[nodiscard]] Pace pace() const;

  // True once for the first save, and once when the work is first known: others wait for these.
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
