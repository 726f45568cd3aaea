// SPDX-License-Identifier: Apache-2.0
// Whether a program still gets on, from its heartbeat or, without one, from its log. Pure.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>

namespace dts::launch {

class ProgressWatch {
 public:
  using Time = std::chrono::steady_clock::time_point;
  using Duration = std::chrono::steady_clock::duration;

  // Without a limit of the user's own only a program that beats is ever called hung: after 10 times
  // the longest pause between its beats so far, at least k_least. (PyTorch waits 10 to 30 minutes
  // for a collective; a detection after 30 minutes costs a run of 16,384 GPUs 15 % of its time, one
  // after 5 minutes 2 %.)
  static constexpr std::chrono::minutes k_least{5};
  static constexpr unsigned k_pauses = 10;
  static constexpr unsigned k_beats_to_know = 3;
  // see() is called every second; a longer pause than this does not count (SIGSTOP, suspension).
  static constexpr std::chrono::seconds k_unwatched{10};

  ProgressWatch(std::optional<std::chrono::seconds> limit, Time start)
      : limit_(limit), last_(start), heard_(start), seen_(start) {}

  // What is seen now: the beat's number and the size of the log in bytes. A log counts only where
  // there is no beat.
  void see(std::uint64_t step, std::uint64_t log_bytes, Time now);

  // Since the last beat or output, whichever came last.
  [[nodiscard]] Duration quiet(Time now) const { return now - heard_; }

  // Between two beats; 0 before the second.
  [[nodiscard]] Duration longest_pause() const { return longest_pause_; }

  // How long there has been no progress, where that is too long.
  [[nodiscard]] std::optional<Duration> hung(Time now) const;

 private:
  [[nodiscard]] std::optional<Duration> patience() const;

  std::optional<std::chrono::seconds> limit_;
  Time last_;   // progress
  Time heard_;  // a beat or output
  Time seen_;   // look
  std::uint64_t step_ = 0;
  std::uint64_t log_bytes_ = 0;
  unsigned beats_ = 0;
  Duration longest_pause_{0};
};

}  // namespace dts::launch
