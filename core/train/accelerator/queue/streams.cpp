// SPDX-License-Identifier: Apache-2.0
#include "core/train/accelerator/queue/streams.hpp"

#include <algorithm>

namespace dts::train::accelerator {
namespace {

template <class Clock>
void join(Clock& clock, const Clock& other) {
  for (std::size_t i = 0; i < clock.size(); ++i) clock[i] = std::max(clock[i], other[i]);
}

template <class Clock>
bool includes(const Clock& clock, const Clock& other) {
  for (std::size_t i = 0; i < clock.size(); ++i)
    if (clock[i] < other[i]) return false;
  return true;
}

}  // namespace

Event Streams::new_event(bool is_timed) {
  Event made;
  check(device_.new_event(context_, is_timed ? 1 : 0, &made.at_));
  events_.push_back(made.at_);
  return made;
}

// What the host knows to be finished precedes everything that it enqueues.
void Streams::enqueued(Stream stream) {
  join(of(stream), host_);
  ++of(stream)[static_cast<std::size_t>(stream)];
}

void Streams::record(Event& event, Stream stream) {
  join(of(stream), host_);
  check(device_.record(context_, event.at_, static_cast<int>(stream)));
  event.clock_ = of(stream);
}

void Streams::follow(Stream stream, const Event& event) {
  join(of(stream), host_);
  if (includes(of(stream), event.clock_)) return;
  check(device_.follow(context_, static_cast<int>(stream), event.at_));
  join(of(stream), event.clock_);
}

void Streams::follow(Stream stream, Stream other) {
  join(of(stream), host_);
  if (includes(of(stream), of(other))) return;
  Event& newest = newest_[static_cast<std::size_t>(other)];
  if (newest.at_ == nullptr) newest = new_event();
  if (newest.clock_ != of(other)) record(newest, other);
  follow(stream, newest);
}

bool Streams::is_known(const Event& event) const {
  return includes(host_, event.clock_);
}

void Streams::wait(const Event& event) {
  if (is_known(event)) return;
  check(device_.wait_event(context_, event.at_));
  join(host_, event.clock_);
}

void Streams::wait_for_all() {
  check(device_.wait(context_));
  for (const Clock& clock : clocks_) join(host_, clock);
}

double Streams::seconds_between(const Event& first, const Event& last) {
  double seconds = 0;
  check(device_.seconds_between(context_, first.at_, last.at_, &seconds));
  return seconds;
}

void Streams::end() {
  for (dttrain_event* const event : events_) device_.free_event(context_, event);
  events_.clear();
}

}  // namespace dts::train::accelerator
