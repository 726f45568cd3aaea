// SPDX-License-Identifier: Apache-2.0
// Detects unordered accesses to memory by several actors: the host and the streams of a
// device. The accesses of one actor are ordered; others are ordered only if an actor waited
// for an event. Two overlapping accesses of different actors, at least one of which is a
// write, are a race if they are not ordered, whether or not the result was right this time
// (vector clocks: L. Lamport, "Time, Clocks, and the Ordering of Events in a Distributed
// System", 1978; C. Fidge, "Timestamps in Message-Passing Systems That Preserve the Partial
// Ordering", 1988).
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

// Not thread-safe.
class RaceRecorder {
 public:
  // An event: what an actor has done so far, and what it has waited for.
  using Clock = std::vector<std::uint64_t>;

  explicit RaceRecorder(std::size_t actors) : clocks_(actors, Clock(actors)) {}

  struct Bytes {
    const void* at = nullptr;
    std::size_t count = 0;
  };

  // Records an access; `what` describes it in races().
  void access(std::size_t actor, Bytes bytes, bool writes, const std::string& what);

  // An event after everything that the actor has done.
  [[nodiscard]] Clock event(std::size_t actor);

  // Orders everything that the actor does from now on after the event.
  void wait(std::size_t actor, const Clock& event);

  // Each pair of descriptions once: "WHAT and WHAT".
  [[nodiscard]] const std::vector<std::string>& races() const { return races_; }

 private:
  struct Done {
    std::size_t actor = 0;
    std::uint64_t time = 0;  // by that actor's clock; 0: no access yet
    std::string what;
  };

  // The latest accesses to a run of bytes with the same history.
  struct Cell {
    std::uintptr_t end = 0;
    Done write;
    std::vector<Done> reads;  // since that write, the latest of each actor
  };

  using Cells = std::map<std::uintptr_t, Cell>;

  void cut(std::uintptr_t at);
  void compare(std::size_t actor, const Done& before, const std::string& what);
  void enter(Cell& cell, const Done& done, bool writes);

  std::vector<Clock> clocks_;
  Cells cells_;  // by begin; without overlaps
  std::vector<std::string> races_;
};
