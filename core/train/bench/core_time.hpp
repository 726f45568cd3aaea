// SPDX-License-Identifier: Apache-2.0
// What others took of the time that a measurement wanted: other programs that had the core, and a
// hypervisor that gave it to another guest. A measurement that was disturbed must know it.
#pragma once

#include <utility>
#include <vector>

namespace dts::train::bench {

// Of the calling thread since it began (/proc/thread-self/schedstat), in s.
struct CoreTime {
  double running = 0;
  double waiting = 0;  // could have run, but others had the core
};

[[nodiscard]] CoreTime core_time();

[[nodiscard]] inline CoreTime operator-(CoreTime a, CoreTime b) {
  return {a.running - b.running, a.waiting - b.waiting};
}

// How often another thread took the core from the calling one (getrusage(2)); a fraction of a
// microsecond.
[[nodiscard]] long preemptions();

// Of the calling thread, from one question to the next.
class Disturbance {
 public:
  // Whether others had the core for more than half of `seconds`, which are those since the last
  // question: a slow link goes on meanwhile, a fast one waits. Looks closer only if the core was
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

// A hypervisor's part (`steal` in proc_stat(5)) of the time of some CPUs from construction on,
// in steps of 10 ms. Zero on real machines.
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
