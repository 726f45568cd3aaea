// SPDX-License-Identifier: Apache-2.0
// The optimiser's step on an accelerator, which keeps the weights and moments that a rank owns.
#pragma once

#include "core/train/optim/chunk.hpp"
#include "core/train/optim/optimizer.hpp"

#include <span>
#include <vector>

namespace dts::train {

// The kept weights and moments change only with keep(), so that a step whose result is not wanted
// leaves no trace. Reports are for the owned chunks in their order. Not thread-safe. If an
// accelerator fails, the process ends.
class ChunkUpdate {
 public:
  ChunkUpdate() = default;
  ChunkUpdate(const ChunkUpdate&) = delete;
  ChunkUpdate& operator=(const ChunkUpdate&) = delete;
  virtual ~ChunkUpdate() = default;

  struct Owned {
    const OptimizerRow* optimizer = nullptr;
    std::vector<OwnChunk> chunks;
    std::size_t floats = 0;  // of all of them
  };

  // Takes over the owned chunks of `weights`, an array of all parameters, and `moments`, which has
  // only what is owned, one moment after another. May be called again.
  virtual void begin(Owned owned, const float* weights, const float* moments) = 0;

  // Writes checksums of the kept weights and moments to the members `weights` and `moments` of the
  // reports.
  virtual void look(std::span<ChunkReport> reports) = 0;

  // Writes the sum of squares of each chunk's gradients. `gradients` has those of the owned chunks,
  // in host memory or, if Backend::exchange() is used, on the accelerator; nullptr: they are where
  // the backend left them (StepInput::gradients_stay).
  virtual void squares(const float* gradients, std::span<double> each) = 0;

  // Makes the step; squares() of the same gradients need not have been called before.
  virtual void step(const UpdateFactors& factors,
                    const float* gradients,
                    std::span<ChunkReport> reports) = 0;

  // For OptimizerRow::by_tensor: moves the weights of each chunk that decays by its rate along the
  // directions that step() left. Completes the reports.
  virtual void move(std::span<const float> rates, std::span<ChunkReport> reports) = 0;

  // Copies the weights after step() of the owned chunks into an array of all parameters.
  virtual void next_weights(float* all) = 0;

  virtual void keep() = 0;

  // The weights of all parameters, as the backend reads them. The parts of other ranks are present
  // only if weights are exchanged from there, too.
  [[nodiscard]] virtual float* all_weights() = 0;

  // Copies the kept weights and moments, in the layouts of begin().
  virtual void weights(float* all) = 0;
  virtual void moments(float* owned) = 0;

  // For tests: flips a bit of one float. The place of a weight is its offset in what is owned; the
  // place of a moment is its offset in all moments, one after another.
  virtual void flip_weight(std::size_t place) = 0;
  virtual void flip_moment(std::size_t place) = 0;
};

}  // namespace dts::train
