// SPDX-License-Identifier: Apache-2.0
// A rehearsal uses as much memory, time, network and disk as a training that does not exist
// yet, while a small model makes its steps in the same loop. So a job's checkpoints,
// preemptions and deadlines can be tested on the real cluster in advance. Not thread-safe,
// except for write().
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

// The small model that is trained.
inline constexpr const char* k_rehearsal_model = "mlp,hidden_size=16";

class Rehearsal {
 public:
  // Allocates and touches the memory, page by page. Throws std::bad_alloc.
  Rehearsal(Comm& comm, const RehearsalPlan& plan);

  // Random images for the small model; valid as long as this object.
  [[nodiscard]] SharedSamples samples() const;

  // Sleeps, because the rehearsed training computes on a GPU, or on cores of its own.
  void compute();

  // Collective. Sends what a step of the rehearsed training would.
  void communicate();

  // Writes this rank's share of a checkpoint into the folder in which it is prepared.
  [[nodiscard]] Result<void> write(const std::string& folder, std::uint64_t step) const;

  // Reads and verifies this rank's share of the files of a checkpoint that is resumed. Errors may
  // differ between ranks.
  [[nodiscard]] Result<void> read(const std::string& folder, std::uint64_t step);

  // Records a save that took `seconds` until its commit, of which training stopped for `stalled`.
  void saved(double seconds, double stalled);

  // What is rehearsed, and what was measured on this rank; complete sentences, one per line.
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
