// SPDX-License-Identifier: Apache-2.0
// Detects a program that uses no processor time, because it waits for ever for a lock or a socket.
// A program that waits in MPI or NCCL may spin and look busy. Pure.
#pragma once

#include <chrono>
#include <cstdint>

namespace dts::launch {

class IdleWatch {
 public:
  using Time = std::chrono::steady_clock::time_point;

  // Clock ticks (10 ms) between two calls, a second apart, that count as work. A thread that only
  // polls now and then uses less.
  static constexpr std::uint64_t k_work = 2;

  explicit IdleWatch(Time start) : worked_(start) {}

  // `ticks`: the total processor time of the program's processes. It is less than before if one of
  // them has ended.
  void observe(std::uint64_t ticks, Time now) {
    const std::uint64_t change = ticks > ticks_ ? ticks - ticks_ : ticks_ - ticks;
    if (change >= k_work) worked_ = now;
    ticks_ = ticks;
  }

  [[nodiscard]] Time::duration idle(Time now) const { return now - worked_; }

 private:
  Time worked_;  // when the program last worked
  std::uint64_t ticks_ = 0;
};

}  // namespace dts::launch
