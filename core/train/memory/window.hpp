// SPDX-License-Identifier: Apache-2.0
// Keeps parts of an array in memory only while they are used. The threads of a rank walk through
// the same sequence of places, each of which reads a run of adjacent parts.
#pragma once

#include <atomic>
#include <cstddef>
#include <functional>
#include <vector>

namespace dts::train {

class Window {
 public:
  // The numbers of parts [begin, end).
  struct Parts {
    int begin = 0;
    int end = 0;

    [[nodiscard]] bool has(int part) const { return begin <= part && part < end; }
  };

  struct Settings {
    std::vector<std::size_t> begins;  // of the parts, ascending, and the end of the last one
    std::function<void(int)> fetch;   // loads a part; called only on the first thread,
    std::function<void(int)> drop;    // as is this, which frees it
    int threads = 1;                  // the most that walk on any rank
  };

  explicit Window(Settings settings) : settings_(std::move(settings)) {}

  [[nodiscard]] int threads() const { return settings_.threads; }

  // The parts that have elements of [begin, end).
  [[nodiscard]] Parts parts_of(std::size_t begin, std::size_t end) const;

  // Begins a walk of the first `threads` threads. A place that reads nothing keeps the parts that
  // the places before and after it have in common. When parts are fetched depends only on the
  // places of this walk and the one before, so that ranks with the same places fetch them
  // together.
  void begin(std::vector<Parts> places, int threads);

  // Each thread calls this before each of its places, in order. Everything that the place reads is
  // present when it returns. Parts of earlier places are dropped once no thread reads them.
  void enter(int thread, int place);

  void leave(int thread);

  // After all threads have left. The parts of the last place stay for the next walk.
  void end();

  // Drops those, too.
  void clear();

 private:
  struct Past {
    int part;
    int place;  // the last place that read it
  };

  void move_to(int place);
  void wait_until_past(int place);
  [[nodiscard]] int slowest() const;

  void drop(const Past& past) const { settings_.drop(past.part); }

  Settings settings_;
  std::vector<Parts> places_;
  std::vector<std::atomic<int>> at_;  // the place of each thread
  std::atomic<int> ready_{0};         // number of places that may be entered
  std::vector<Past> past_;            // parts that are present but not read at the current place
  Parts kept_;                        // parts that the walk before left
};

}  // namespace dts::train
