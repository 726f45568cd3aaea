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

  // Unless the user sets a limit, only a program with heartbeats is ever called hung: after 10
  // times the longest pause between its beats so far, and k_least at least. (PyTorch waits 10 to 30
  // minutes for a collective; detection after 30 minutes costs a run of 16,384 GPUs 15 % of its
  // time, after 5 minutes 2 %.)
  static constexpr std::chrono::minutes k_least{5};
  static constexpr unsigned k_pauses = 10;
  static constexpr unsigned k_beats_to_know = 3;
  // see() is called every second; time since the last call does not count if it is longer than this
  // (SIGSTOP, suspension).
  static constexpr std::chrono::seconds k_unwatched{10};

  ProgressWatch(std::optional<std::chrono::seconds> limit, Time start)
      : limit_(limit), last_(start), heard_(start), seen_(start) {}

  // The current state: the beat's number and the size of the log in bytes. The log counts only if
  // there is no beat.
  void see(std::uint64_t step, std::uint64_t log_bytes, Time now);

  // Time since the last beat or output, whichever came last.
  [[nodiscard]] Duration quiet(Time now) const { return now - heard_; }

  // Between two beats; 0 before the second.
  [[nodiscard]] Duration longest_pause() const { return longest_pause_; }

  // How long there has been no progress, if that is too long.
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
