// SPDX-License-Identifier: Apache-2.0
// One training step on a GPU, forward to optimiser, from the same state again and again.
#pragma once

#include "core/train/accelerator/device_sums.hpp"
#include "core/train/memory/buffer.hpp"
#include "core/train/optim/optimizer.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace dts::train::bench {

class GpuStep {
 public:
  // Of made-up tokens, `shards` times `micro_batch` samples, as `sums` was made for. Throws
  // DeviceError and std::bad_alloc, as does run(). `model` and `sums` must outlive it.
  GpuStep(const Model& model, accelerator::DeviceSums& sums, int shards, int micro_batch);

  // What makes the step.
  [[nodiscard]] static const OptimizerRow& optimizer();

  // The digest of the state after the step, and of its loss. The state before it stays.
  [[nodiscard]] std::uint64_t run();

 private:
  [[nodiscard]] std::size_t floats() const { return model_.layout.parameter_floats; }

  const Model& model_;
  accelerator::DeviceSums& sums_;
  int shards_;
  int samples_;
  std::vector<std::byte> tokens_;
  Buffer weights_;
  std::vector<ChunkReport> reports_;
};

}  // namespace dts::train::bench
