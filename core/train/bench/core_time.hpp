// SPDX-License-Identifier: Apache-2.0
// How much processor time other programs, or a hypervisor for its other guests, took from a
// measurement, which must know whether it was disturbed.
#pragma once

#include <utility>
#include <vector>

namespace dts::train::bench {

// The times of the calling thread since it began (/proc/thread-self/schedstat), in s.
struct CoreTime {
  double running = 0;
  double waiting = 0;  // runnable, but others had the core
};

[[nodiscard]] CoreTime core_time();

[[nodiscard]] inline CoreTime operator-(CoreTime a, CoreTime b) {
  return {a.running - b.running, a.waiting - b.waiting};
}

// How often another thread took the core from the calling thread (getrusage(2)). The call takes a
// fraction of a microsecond.
[[nodiscard]] long preemptions();

// Detects disturbances of the calling thread between calls.
class Disturbance {
 public:
  // Whether others had the core for more than half of `seconds`, the time since the last call. That
  // matters for fast links only: a slow one transfers meanwhile. Reads /proc only if the core was
  // taken at all.
  [[nodiscard]] bool since_last(double seconds) {
    const long now = preemptions();
    if (now == preempted_) return false;
    preempted_ = now;
    const double before = std::exchange(waiting_, core_time().waiting);
    return waiting_ - before > seconds / 2;
  }

 private:
  long preempted_ = preemptions();
  double waiting_ = core_time().waiting;
};

// The share of some CPUs' time that a hypervisor took (`steal` in proc_stat(5)) since construction,
// measured in steps of 10 ms. Zero on real machines.
class Stolen {
 public:
  explicit Stolen(std::vector<int> cpus);

  [[nodiscard]] double share() const;  // 0 to 1

 private:
  struct Ticks {
    double stolen = 0;
    double all = 0;
  };

  [[nodiscard]] Ticks read() const;

  std::vector<int> cpus_;
  Ticks before_;
};

}  // namespace dts::train::bench
