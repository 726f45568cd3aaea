// SPDX-License-Identifier: Apache-2.0
// Finds accesses to memory that no order separates, in what several actors do: the host and the
// queues of a device. An actor's own accesses are in order; others follow only where an actor has
// waited for an event. Two accesses of different actors that overlap, of which one writes and
// neither follows the other, are a race, whether or not it came out well this time (vector clocks:
// L. Lamport, "Time, Clocks, and the Ordering of Events in a Distributed System", 1978; C. Fidge,
// "Timestamps in Message-Passing Systems That Preserve the Partial Ordering", 1988).
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

// Not thread-safe.
class RaceRecorder {
 public:
  // What an actor has done so far, and what it has waited for: an event.
  using Clock = std::vector<std::uint64_t>;

  explicit RaceRecorder(std::size_t actors) : clocks_(actors, Clock(actors)) {}

  struct Bytes {
    const void* at = nullptr;
    std::size_t count = 0;
  };

  // `what` is for races().
  void access(std::size_t actor, Bytes bytes, bool writes, const std::string& what);

  // After all that the actor has done.
  [[nodiscard]] Clock event(std::size_t actor);

  // What the actor does from now on follows the event.
  void wait(std::size_t actor, const Clock& event);

  // One of each pair of `what`: "WHAT and WHAT".
  [[nodiscard]] const std::vector<std::string>& races() const { return races_; }

 private:
  struct Done {
    std::size_t actor = 0;
    std::uint64_t time = 0;  // of that actor; 0: nothing was done
    std::string what;
  };

  // The last accesses of bytes of the same history.
  struct Cell {
    std::uintptr_t end = 0;
    Done write;
    std::vector<Done> reads;  // since then, the last of each actor
  };

  using Cells = std::map<std::uintptr_t, Cell>;

  void cut(std::uintptr_t at);
  void compare(std::size_t actor, const Done& before, const std::string& what);
  void enter(Cell& cell, const Done& done, bool writes);

  std::vector<Clock> clocks_;
  Cells cells_;  // by where they begin; without overlaps
  std::vector<std::string> races_;
};
