// SPDX-License-Identifier: Apache-2.0
// A rehearsal: holds as much memory, computes for as long, sends as much and saves as much as a
// training that is not there yet, while a small model takes its steps in the same loop. So a job's
// checkpoints, preemptions and deadlines are tried on the real cluster before the job is. Not
// thread-safe, but for write().
#pragma once

#include "core/train/comm/comm.hpp"
#include "core/train/data/shared_samples.hpp"
#include "core/train/memory/buffer.hpp"
#include "core/train/rehearsal/rehearsal_plan.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace dts::train {

// The small model.
inline constexpr const char* k_rehearsal_model = "mlp,hidden_size=16";

class Rehearsal {
 public:
  // Takes the memory, page by page. Throws std::bad_alloc.
  Rehearsal(Comm& comm, const RehearsalPlan& plan);

  // Images of noise for the small model; they live as long as this does.
  [[nodiscard]] SharedSamples samples() const;

  // Sleeps: what is rehearsed computes on a GPU or on cores that nobody else has.
  void compute();

  // Collective.
  void communicate();

  // This rank's share of a checkpoint, into the folder in which it is prepared.
  [[nodiscard]] Result<void> write(const std::string& folder, std::uint64_t step) const;

  // Of a checkpoint that is continued, this rank's part of what its writers wrote; counts. Each
  // rank may get another error.
  [[nodiscard]] Result<void> read(const std::string& folder, std::uint64_t step);

  // A save took `seconds` until it was committed, of which training stood still for `stalled`.
  void saved(double seconds, double stalled);

  // What is rehearsed, and what was measured on this rank; sentences, each on a line of its own.
  [[nodiscard]] std::string what() const;
  [[nodiscard]] std::string summary() const;

 private:
  [[nodiscard]] std::uint64_t checkpoint_bytes() const;

  Comm& comm_;
  RehearsalPlan plan_;
  Buffer memory_;
  std::vector<std::uint8_t> images_, labels_;
  std::vector<std::byte> out_, in_;
  std::uint64_t steps_ = 0;
  double computed_ = 0;      // seconds
  double communicated_ = 0;  // seconds
  std::uint64_t saves_ = 0;
  double saving_ = 0;   // seconds
  double stalled_ = 0;  // seconds
};

}  // namespace dts::train
