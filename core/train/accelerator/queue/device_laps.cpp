// SPDX-License-Identifier: Apache-2.0
#include "core/train/accelerator/queue/device_laps.hpp"

#include <chrono>

namespace dts::train::accelerator {

DeviceLaps::DeviceLaps(Queue& queue, std::size_t stretches) : queue_(queue), marks_(stretches) {
  for (Mark& one : marks_) one.at = queue_.new_event(true);
}

void DeviceLaps::mark(Phase phase) {
  if (used_ == marks_.size()) marks_.push_back({queue_.new_event(true)});
  Mark& made = marks_[used_++];
  made.phase = phase;
  queue_.record(made.at);
}

void DeviceLaps::report(Track& track) {
  using Clock = Stretch::Clock;
  if (used_ == 0) return;
  const Event& last = marks_[used_ - 1].at;
  queue_.wait(last);
  const Clock::time_point now = Clock::now();
  Clock::time_point begin;
  for (std::size_t i = 0; i < used_; ++i) {
    const std::chrono::duration<double> ago(queue_.seconds_between(marks_[i].at, last));
    const Clock::time_point end = now - std::chrono::duration_cast<Clock::duration>(ago);
    if (marks_[i].phase != Phase::count) track.add(marks_[i].phase, begin, end);
    begin = end;
  }
  used_ = 0;
}

}  // namespace dts::train::accelerator
