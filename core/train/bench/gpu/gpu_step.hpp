// SPDX-License-Identifier: Apache-2.0
// One training step on a GPU, from forward pass to optimiser, repeated from the same state.
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
  // Trains on generated tokens, `shards` times `micro_batch` samples, which must be what `sums` was
  // created for. Throws DeviceError and std::bad_alloc, as does run(). `model` and `sums` must
  // outlive this.
  GpuStep(const Model& model, accelerator::DeviceSums& sums, int shards, int micro_batch);

  // The optimiser of the step.
  [[nodiscard]] static const OptimizerRow& optimizer();

  // Returns the digest of the state after the step and of its loss. The initial state is kept.
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
