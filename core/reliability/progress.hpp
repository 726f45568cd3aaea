// SPDX-License-Identifier: Apache-2.0
// The work of a run: computed, saved, lost. Exact, in whole nanoseconds.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>

namespace dts::reliability {

using Nanoseconds = std::chrono::nanoseconds;

struct Work {
  Nanoseconds computing{0};  // at full speed
  Nanoseconds slow{0};       // time that a slow node added to it
  Nanoseconds saving{0};

  Work& operator+=(const Work& more);

  [[nodiscard]] Nanoseconds sum() const { return computing + slow + saving; }
};

// A run that computes for `interval`, saves for `save`, and so on, until work is lost. Not
// thread-safe.
class Progress {
 public:
  // `slow_factor`: how much longer computing takes while a node is slow. interval + save must be
  // above 0.
  Progress(Nanoseconds interval, Nanoseconds save, double slow_factor);

  // Runs for `time`, at a constant cost for any length.
  enum class Pace { full, slow };  // slow: beside a slow node
  void run(Nanoseconds time, Pace pace);

  // An extra save has succeeded; the caller accounts for its time.
  void keep();

  // Returns to the latest checkpoint; the work since then is lost.
  void lose();

  // From now on, all results are corrupt.
  void corrupt();

  [[nodiscard]] bool corrupted() const { return before_corruption_.has_value(); }

  // Returns to the latest checkpoint before the corruption if there was one, otherwise to the
  // latest.
  void roll_back();

  [[nodiscard]] Work work() const;  // what was not lost

  [[nodiscard]] Nanoseconds lost() const { return lost_; }

  [[nodiscard]] std::uint64_t saves() const { return saves_; }

 private:
  // Computes up to `end` within the current cycle, then saves.
  void advance_to(Nanoseconds end, Pace pace);
  [[nodiscard]] Work computed(Nanoseconds time, Pace pace) const;

  struct Corruption {
    Work saved;
    std::uint64_t saves = 0;
  };

  Nanoseconds interval_;
  Nanoseconds save_;
  double slow_factor_;
  Nanoseconds position_{0};  // in the cycle of interval and save
  Work saved_;
  Work unsaved_;
  Nanoseconds lost_{0};
  std::uint64_t saves_ = 0;
  std::optional<Corruption> before_corruption_;
};

}  // namespace dts::reliability
