// SPDX-License-Identifier: Apache-2.0
#include "core/reliability/progress.hpp"

#include <algorithm>

namespace dts::reliability {

Work& Work::operator+=(const Work& more) {
  computing += more.computing;
  slow += more.slow;
  saving += more.saving;
  return *this;
}

Progress::Progress(Nanoseconds interval, Nanoseconds save, double slow_factor)
    : interval_(interval), save_(save), slow_factor_(slow_factor) {}

Work Progress::computed(Nanoseconds time, Pace pace) const {
  if (pace == Pace::full) return {time, Nanoseconds(0), Nanoseconds(0)};
  const Nanoseconds useful(
      static_cast<std::int64_t>(static_cast<double>(time.count()) / slow_factor_));
  return {useful, time - useful, Nanoseconds(0)};
}

void Progress::advance_to(Nanoseconds end, Pace pace) {
  unsaved_ += computed(std::min(end, interval_) - std::min(position_, interval_), pace);
  unsaved_.saving += std::max(end, interval_) - std::max(position_, interval_);
  position_ = end;
}

void Progress::run(Nanoseconds time, Pace pace) {
  const Nanoseconds cycle = interval_ + save_;
  const Nanoseconds end = position_ + time;
  const std::int64_t cycles = end / cycle;
  if (cycles == 0) return advance_to(end, pace);
  advance_to(cycle, pace);
  keep();
  saved_ += computed((cycles - 1) * interval_, pace);
  saved_.saving += (cycles - 1) * save_;
  saves_ += static_cast<std::uint64_t>(cycles - 1);
  advance_to(end - cycles * cycle, pace);
}

void Progress::keep() {
  saved_ += unsaved_;
  unsaved_ = {};
  position_ = Nanoseconds(0);
  ++saves_;
}

void Progress::lose() {
  lost_ += unsaved_.sum();
  unsaved_ = {};
  position_ = Nanoseconds(0);
  // The newest checkpoint may be older than the corruption, which is then undone, too.
  if (before_corruption_ && before_corruption_->saves == saves_) before_corruption_.reset();
}

void Progress::corrupt() {
  before_corruption_ = {saved_, saves_};
}

void Progress::roll_back() {
  if (before_corruption_) {
    const Work& good = before_corruption_->saved;
    lost_ += saved_.computing - good.computing + saved_.slow - good.slow;
    saved_.computing = good.computing;
    saved_.slow = good.slow;
    before_corruption_.reset();
  }
  lose();
}

Work Progress::work() const {
  Work all = saved_;
  all += unsaved_;
  return all;
}

}  // namespace dts::reliability
