// SPDX-License-Identifier: Apache-2.0
// What the ranks did in the first steps, as Chrome trace events for ui.perfetto.dev and
// chrome://tracing ("Trace Event Format", Google, 2016: complete events and metadata).
#pragma once

#include "core/train/timing/timeline.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace dts::train {

// The trace of one rank. Not thread-safe.
class Trace {
 public:
  // Has room for `steps` steps. Times are relative to `zero`.
  Trace(int rank, std::uint64_t steps, Stretch::Clock::time_point zero)
      : rank_(rank), steps_(steps), zero_(zero) {}

  // Adds step number `step` of the run and what followed it; does nothing if the trace is full.
  void add(const Timeline& timeline, std::uint64_t step);

  [[nodiscard]] bool is_full() const { return taken_ == steps_; }

  // The events, one per line, without the enclosing JSON.
  [[nodiscard]] const std::string& events() const { return events_; }

 private:
  void add(const std::string& name, const Stretch& stretch, std::size_t thread);

  int rank_;
  std::uint64_t steps_;
  Stretch::Clock::time_point zero_;
  std::uint64_t taken_ = 0;
  std::string events_;
};

// The complete file: the events of each rank, and the ranks' names.
[[nodiscard]] std::string trace_file(const std::vector<std::string>& events_of_ranks);

}  // namespace dts::train
