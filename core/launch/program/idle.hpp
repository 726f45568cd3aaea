// SPDX-License-Identifier: Apache-2.0
// Whether a program uses processors at all. One that waits for ever for a lock or a socket does
// not; one that waits in MPI or NCCL may spin and look busy. Pure.
#pragma once

#include <chrono>
#include <cstdint>

namespace dts::launch {

class IdleWatch {
 public:
  using Time = std::chrono::steady_clock::time_point;

  // Clock ticks (of 10 ms) between two looks, a second apart, that count as work: a thread that
  // only polls now and then uses less.
  static constexpr std::uint64_t k_work = 2;

  explicit IdleWatch(Time start) : worked_(start) {}

  // The processor time of all processes of the program so far. If it is less than before, one of
  // them has ended.
  void see(std::uint64_t ticks, Time now) {
    const std::uint64_t change = ticks > ticks_ ? ticks - ticks_ : ticks_ - ticks;
    if (change >= k_work) worked_ = now;
    ticks_ = ticks;
  }

  [[nodiscard]] Time::duration idle(Time now) const { return now - worked_; }

 private:
  Time worked_;  // the last time it worked
  std::uint64_t ticks_ = 0;
};

}  // namespace dts::launch
