// SPDX-License-Identifier: Apache-2.0
// The order of work in a device's streams: events, and who is known to follow which.
#pragma once

#include "core/train/accelerator/dttrain_device.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <vector>

namespace dts::train::accelerator {

// A device that no longer works, or has no memory left. What it had computed is lost.
class DeviceError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

enum class Stream {
  compute = DTTRAIN_COMPUTE,
  copy_in = DTTRAIN_COPY_IN,
  copy_out = DTTRAIN_COPY_OUT,
};

// A place in a stream, of the Streams that made it. Whoever waits for one that has never been
// recorded goes on.
class Event {
 public:
  Event() = default;

 private:
  friend class Streams;

  // How much of each stream has been done.
  using Clock = std::array<std::uint64_t, DTTRAIN_STREAMS>;

  dttrain_event* at_ = nullptr;
  Clock clock_{};
};

// A wait whose order is known already, also by way of other events, is left out. That is known by
// vector clocks, whose sources tests/support/race_recorder.hpp names. Everything throws
// DeviceError. Not thread-safe.
class Streams {
 public:
  Streams(const dttrain_device& device, dttrain_context* context)
      : device_(device), context_(context) {}

  // Its memory is given back by end().
  [[nodiscard]] Event new_event(bool is_timed = false);

  // Something was put into the stream.
  void enqueued(Stream stream);

  // Behind what is in the stream now.
  void record(Event& event, Stream stream);

  // What is put into the stream from now on begins after the event.
  void follow(Stream stream, const Event& event);

  // The same after all that is in another stream now.
  void follow(Stream stream, Stream other);

  // Whether the host knows that the event has been reached.
  [[nodiscard]] bool is_known(const Event& event) const;

  // On the host.
  void wait(const Event& event);
  void wait_for_all();

  // Between two timed events that have been waited for.
  [[nodiscard]] double seconds_between(const Event& first, const Event& last);

  // No event may be used afterwards. Throws nothing.
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
  std::array<Event, DTTRAIN_STREAMS> newest_;  // for follow() of a stream
  std::array<Clock, DTTRAIN_STREAMS> clocks_{};
  Clock host_{};
};

}  // namespace dts::train::accelerator
