// SPDX-License-Identifier: Apache-2.0
// The order of work in a device's streams: events, and which work is known to follow which.
#pragma once

#include "core/train/accelerator/dttrain_device.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <vector>

namespace dts::train::accelerator {

// The device failed or has no memory left. Everything that it had computed is lost.
class DeviceError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

enum class Stream {
  compute = DTTRAIN_COMPUTE,
  copy_in = DTTRAIN_COPY_IN,
  copy_out = DTTRAIN_COPY_OUT,
};

// A point in a stream of the Streams object that made it. A wait for an event that was never
// recorded returns at once.
class Event {
 public:
  Event() = default;

 private:
  friend class Streams;

  // For each stream, how many of its pieces of work come before the event.
  using Clock = std::array<std::uint64_t, DTTRAIN_STREAMS>;

  dttrain_event* at_ = nullptr;
  Clock clock_{};
};

// Omits waits whose order is already known, also through other events. It uses vector clocks;
// tests/support/race_recorder.hpp names the sources. Every function may throw DeviceError. Not
// thread-safe.
class Streams {
 public:
  Streams(const dttrain_device& device, dttrain_context* context)
      : device_(device), context_(context) {}

  // end() frees it.
  [[nodiscard]] Event new_event(bool is_timed = false);

  // Must be called after each piece of work that is put into a stream.
  void enqueued(Stream stream);

  // Records the event after everything that is in the stream now.
  void record(Event& event, Stream stream);

  // Work that is put into the stream from now on starts after the event.
  void follow(Stream stream, const Event& event);

  // The same after everything that is in another stream now.
  void follow(Stream stream, Stream other);

  // Whether the host knows that the device has reached the event.
  [[nodiscard]] bool is_known(const Event& event) const;

  // Blocks the host.
  void wait(const Event& event);
  void wait_for_all();

  // Both must be timed events that the host has waited for.
  [[nodiscard]] double seconds_between(const Event& first, const Event& last);

  // Frees all events, which must not be used afterwards. Does not throw.
  void end();

 private:
  using Clock = Event::Clock;

  static void check(const char* wrong) {
    if (wrong != nullptr) throw DeviceError(wrong);
  }

  Clock& of(Stream stream) { return clocks_[static_cast<std::size_t>(stream)]; }

  const dttrain_device& device_;
  dttrain_context* context_;
  std::vector<dttrain_event*> events_;
  std::array<Event, DTTRAIN_STREAMS> newest_;  // for follow(Stream, Stream)
  std::array<Clock, DTTRAIN_STREAMS> clocks_{};
  Clock host_{};
};

}  // namespace dts::train::accelerator
