// SPDX-License-Identifier: Apache-2.0
// Whether a program uses processors at all. One that waits for ever in a lock or a socket does not;
// one that waits in MPI or NCCL may spin, and looks busy. Pure.
#pragma once

#include <chrono>
#include <cstdint>

namespace dts::launch {

class IdleWatch {
 public:
  using Time = std::chrono::steady_clock::time_point;

  // Clock ticks (of 10 ms) between two looks, a second apart, that are work: less is what a thread
  // uses that only looks at something now and then.
  static constexpr std::uint64_t k_work = 2;

  explicit IdleWatch(Time start) : worked_(start) {}

  // The processor time of all processes of the program so far. Less than before: one of them has
  // ended.
  void see(std::uint64_t ticks, Time now) {
    const std::uint64_t change = ticks > ticks_ ? ticks - ticks_ : ticks_ - ticks;
    if (change >= k_work) worked_ = now;
    ticks_ = ticks;
  }

  [[nodiscard]] Time::duration idle(Time now) const { return now - worked_; }

 private:
  Time worked_;  // last
  std::uint64_t ticks_ = 0;
};

}  // namespace dts::launch
