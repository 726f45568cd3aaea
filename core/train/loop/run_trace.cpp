// SPDX-License-Identifier: Apache-2.0
// Writes the trace of all ranks to one file, on rank 0.
#include "core/base/files/files.hpp"
#include "core/train/loop/run.hpp"

#include <utility>

namespace dts::train {

// The clocks of nodes differ, so each rank measures from its return from a barrier.
void Run::begin_trace() {
  if (options_.trace.empty()) return;
  comm_.barrier();
  trace_.emplace(comm_.rank(), options_.trace_steps, Clock::now());
}

int Run::trace_step() {
  if (!trace_) return 0;
  trace_->add(timeline_, begun_);
  timeline_.clear();
  return trace_->is_full() ? write_trace() : 0;
}

// Collective; once, with the steps so far. Returns an exit code, the same on all ranks.
int Run::write_trace() {
  if (!trace_) return 0;
  trace_->add(timeline_, begun_);
  const std::string mine = trace_->events();
  trace_.reset();
  const auto sizes = comm_.gather(mine.size());
  std::vector<std::string> all{mine};
  if (comm_.rank() != 0) comm_.wait(comm_.post_send(0, mine.data(), mine.size()));
  for (int rank = 1; comm_.rank() == 0 && rank < comm_.size(); ++rank) {
    std::string& theirs = all.emplace_back(sizes[static_cast<std::size_t>(rank)], '\0');
    comm_.wait(comm_.post_receive(rank, theirs.data(), theirs.size()));
  }
  Result<void> written;
  if (comm_.rank() == 0) written = write_file(options_.trace, trace_file(all));
  return agree_on_error(written, exit_code(Errc::io));
}

}  // namespace dts::train
