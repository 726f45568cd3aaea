// SPDX-License-Identifier: Apache-2.0
#include "core/launch/rank/progress.hpp"

#include <algorithm>

namespace dts::launch {

void ProgressWatch::observe(std::uint64_t step, std::uint64_t log_bytes, Time now) {
  // Nobody looked: the job was suspended, or the node stood still. That time does not count against
  // the program.
  if (now - seen_ > k_unwatched) {
    last_ += now - seen_;
    heard_ += now - seen_;
  }
  if (step != step_ || log_bytes != log_bytes_) heard_ = now;
  seen_ = now;
  if (step != step_) {
    // The first beat comes after imports and compilation, so the pause before it is not
    // representative.
    if (beats_ > 0) longest_pause_ = std::max(longest_pause_, now - last_);
    ++beats_;
    last_ = now;
  } else if (beats_ == 0 && log_bytes != log_bytes_) {
    last_ = now;
  }
  step_ = step;
  log_bytes_ = log_bytes;
}

std::optional<ProgressWatch::Duration> ProgressWatch::patience() const {
  if (limit_) return *limit_;
  if (beats_ < k_beats_to_know) return std::nullopt;
  return std::max<Duration>(k_least, k_pauses * longest_pause_);
}

std::optional<ProgressWatch::Duration> ProgressWatch::hung(Time now) const {
  const auto limit = patience();
  if (!limit || now - last_ < *limit) return std::nullopt;
  return now - last_;
}

}  // namespace dts::launch
