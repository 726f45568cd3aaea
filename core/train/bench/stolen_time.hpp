// SPDX-License-Identifier: Apache-2.0
// A fault for tests: part of the time of a thread goes to something else, as if its core were
// slower or had to be shared. It is taken in pieces far shorter than what is timed.
#pragma once

#include <array>
#include <ctime>
#include <memory>

namespace dts::train::bench {

// From construction to destruction, `part` (0 to 0.9) of the calling thread's time is taken by a
// timer's signal handler that spins. It has a stack of its own: oneDNN's sgemm uses the stack
// pointer as an ordinary register, and a handler on "the stack" would write into the heap. All
// objects of a process at one time must have the same part. Nothing happens if part is 0, or the
// kernel has no timer for us.
class StolenTime {
 public:
  explicit StolenTime(double part);
  StolenTime(const StolenTime&) = delete;
  StolenTime& operator=(const StolenTime&) = delete;
  ~StolenTime();

 private:
  using Stack = std::array<char, 1 << 16>;

  std::unique_ptr<Stack> stack_;
  timer_t timer_{};
  bool armed_ = false;
};

}  // namespace dts::train::bench
