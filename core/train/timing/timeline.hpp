// SPDX-License-Identifier: Apache-2.0
// What the threads of a rank do, and when. Phase times and traces are derived from it; no
// computation depends on it.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace dts::train {

enum class Phase : std::uint8_t {
  data,           // reading and normalising samples
  forward,        // includes the loss
  backward,       // up to a shard's gradients
  reduce,         // adding up sums over shards
  communication,  // waiting for messages, and so for slower ranks
  optimizer,
  save,  // training stops for a checkpoint
  evaluate,
  count,
};

inline constexpr auto k_phases = static_cast<std::size_t>(Phase::count);

[[nodiscard]] const char* to_string(Phase phase);

using PhaseSeconds = std::array<double, k_phases>;

struct Stretch {
  using Clock = std::chrono::steady_clock;

  Phase phase = Phase::count;
  Phase within = Phase::count;  // the phase that it interrupts; count: none
  const char* name = "";        // a more specific name, in static storage
  Clock::time_point begin;
  Clock::time_point end;

  [[nodiscard]] double seconds() const {
    return std::chrono::duration<double>(end - begin).count();
  }
};

[[nodiscard]] inline double seconds_since(Stretch::Clock::time_point start) {
  return std::chrono::duration<double>(Stretch::Clock::now() - start).count();
}

class Timed;

// The track of one thread. Not thread-safe: others may read it only while that thread is idle.
class alignas(64) Track {
 public:
  void add(Phase phase,
           Stretch::Clock::time_point begin,
           Stretch::Clock::time_point end,
           const char* name = "") {
    stretches_.push_back({phase, open_, name, begin, end});
  }

  [[nodiscard]] const std::vector<Stretch>& stretches() const { return stretches_; }

  void clear() { stretches_.clear(); }

 private:
  friend class Timed;

  Phase open_ = Phase::count;
  std::vector<Stretch> stretches_;
};

// Measures consecutive phases. Does nothing without a track.
class Stopwatch {
 public:
  explicit Stopwatch(Track* track)
      : track_(track),
        begin_(track == nullptr ? Stretch::Clock::time_point{} : Stretch::Clock::now()) {}

  // Assigns the time since the start or the last lap to `phase`.
  void lap(Phase phase) {
    if (track_ == nullptr) return;
    const auto now = Stretch::Clock::now();
    track_->add(phase, begin_, now);
    begin_ = now;
  }

 private:
  Track* track_;
  Stretch::Clock::time_point begin_;
};

// A phase that lasts as long as this object. Stretches that are added meanwhile are within it.
class Timed {
 public:
  Timed(Track& track, Phase phase) : track_(track), begin_(Stretch::Clock::now()) {
    track_.open_ = phase;
  }

  Timed(const Timed&) = delete;
  Timed& operator=(const Timed&) = delete;

  ~Timed() {
    const Phase phase = track_.open_;
    track_.open_ = Phase::count;
    track_.add(phase, begin_, Stretch::Clock::now());
  }

 private:
  Track& track_;
  Stretch::Clock::time_point begin_;
};

// A track for each thread. The first track belongs to the thread that also communicates.
class Timeline {
 public:
  explicit Timeline(int threads) : tracks_(static_cast<std::size_t>(threads)) {}

  [[nodiscard]] Track& track(int thread) { return tracks_[static_cast<std::size_t>(thread)]; }

  [[nodiscard]] const std::vector<Track>& tracks() const { return tracks_; }

  void clear() {
    for (Track& track : tracks_) track.clear();
  }

 private:
  std::vector<Track> tracks_;
};

// Seconds per phase: data, forward and backward on the thread that spent most time in them, the
// others on the first thread. Interruptions of a phase are not included in it.
[[nodiscard]] PhaseSeconds phase_seconds(const Timeline& timeline);

}  // namespace dts::train
