// SPDX-License-Identifier: Apache-2.0
// Parts of an array that are there only while they are used: the threads of a rank walk through one
// sequence of places, each of which reads some parts that follow each other.
#pragma once

#include <atomic>
#include <cstddef>
#include <functional>
#include <vector>

namespace dts::train {

class Window {
 public:
  // Parts [begin, end), as they are numbered.
  struct Parts {
    int begin = 0;
    int end = 0;

    [[nodiscard]] bool has(int part) const { return begin <= part && part < end; }
  };

  struct Settings {
    std::vector<std::size_t> begins;  // of the parts, ascending, and where the last one ends
    std::function<void(int)> fetch;   // makes a part be there; called by the first thread alone,
    std::function<void(int)> drop;    // as is this
    int threads = 1;                  // that walk on every rank, at most: the first ones
  };

  explicit Window(Settings settings) : settings_(std::move(settings)) {}

  [[nodiscard]] int threads() const { return settings_.threads; }

  // Those that have elements of [begin, end).
  [[nodiscard]] Parts parts_of(std::size_t begin, std::size_t end) const;

  // A walk of `threads` threads, the first one among them. A place that reads nothing keeps what
  // the ones before and after it have in common. Which parts are fetched when depends on the places
  // of this walk and of the one before, so that ranks that walk through the same ones do it
  // together.
  void begin(std::vector<Parts> places, int threads);

  // Each thread before each of its places, in turn: then all that the place reads is there. What
  // the thread has read at places before is dropped once no thread reads it.
  void enter(int thread, int place);

  void leave(int thread);

  // After all threads have left. What the last place has read stays for the next walk.
  void end();

  // Drops that, too.
  void clear();

 private:
  struct Past {
    int part;
    int place;  // the last one that read it
  };

  void move_to(int place);
  void wait_until_past(int place);
  [[nodiscard]] int slowest() const;

  void drop(const Past& past) const { settings_.drop(past.part); }

  Settings settings_;
  std::vector<Parts> places_;
  std::vector<std::atomic<int>> at_;  // the place of each thread
  std::atomic<int> ready_{0};         // places before it can be entered
  std::vector<Past> past_;            // parts that are there and not read at the newest place
  Parts kept_;                        // of the walk before
};

}  // namespace dts::train
