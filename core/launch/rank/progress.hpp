// SPDX-License-Identifier: Apache-2.0
// Whether a program still makes progress, judged by its heartbeat or, without one, by its log.
// Pure.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>

namespace dts::launch {

class ProgressWatch {
 public:
  using Time = std::chrono::steady_clock::time_point;
  using Duration = std::chrono::steady_clock::duration;

  // Unless the user sets a limit, only a program with heartbeats can count as hung: after 10 times
  // the longest pause between its beats so far, but not before k_least. (PyTorch waits 10 to 30
  // minutes for a collective. Detection after 30 minutes costs a run on 16,384 GPUs 15 % of its
  // time, detection after 5 minutes 2 %.)
  static constexpr std::chrono::minutes k_least{5};
  static constexpr unsigned k_pauses = 10;
  static constexpr unsigned k_beats_to_know = 3;
  // observe() is called every second. If the last call was longer ago than this (SIGSTOP,
  // suspension), the time since then does not count.
  static constexpr std::chrono::seconds k_unwatched{10};

  ProgressWatch(std::optional<std::chrono::seconds> limit, Time start)
      : limit_(limit), last_(start), heard_(start), seen_(start) {}

  // Takes the current number of the beat and the size of the log in bytes. The log counts only as
  // long as there is no beat.
  void observe(std::uint64_t step, std::uint64_t log_bytes, Time now);

  // Time since the last beat or output, whichever was later.
  [[nodiscard]] Duration quiet(Time now) const { return now - heard_; }

  // The longest time between two beats; 0 before the second beat.
  [[nodiscard]] Duration longest_pause() const { return longest_pause_; }

  // For how long there has been no progress, if that is too long.
  [[nodiscard]] std::optional<Duration> hung(Time now) const;

 private:
  [[nodiscard]] std::optional<Duration> patience() const;

  std::optional<std::chrono::seconds> limit_;
  Time last_;   // the last progress
  Time heard_;  // the last beat or output
  Time seen_;   // the last call of observe()
  std::uint64_t step_ = 0;
  std::uint64_t log_bytes_ = 0;
  unsigned beats_ = 0;
  Duration longest_pause_{0};
};

}  // namespace dts::launch
