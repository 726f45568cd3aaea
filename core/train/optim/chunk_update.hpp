// SPDX-License-Identifier: Apache-2.0
// The optimiser's step on what a rank owns, where an accelerator keeps its weights and moments.
#pragma once

#include "core/train/optim/chunk.hpp"
#include "core/train/optim/optimizer.hpp"

#include <span>
#include <vector>

namespace dts::train {

// What it keeps becomes another one only by keep(): a step whose result is not wanted leaves no
// trace. Reports are of the owned chunks in their order. Not thread-safe; an accelerator that no
// longer works ends the process.
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

  // Takes over the owned chunks of `weights`, an array of all parameters, and `moments`, of what is
  // owned, one moment after the other. May be called again.
  virtual void begin(Owned owned, const float* weights, const float* moments) = 0;

  // Checksums of what there is, in `weights` and `moments`.
  virtual void look(std::span<ChunkReport> reports) = 0;

  // Gradients are those of what is owned, in the host's memory or, if arrays are exchanged from
  // where they are (Backend::exchange()), there; nullptr: where the backend has left them
  // (StepInput::stays). The sums of the squares of each chunk:
  virtual void squares(const float* gradients, std::span<double> each) = 0;

  // Makes the step, after squares() of the same gradients or without.
  virtual void step(const UpdateFactors& factors,
                    const float* gradients,
                    std::span<ChunkReport> reports) = 0;

  // For OptimizerRow::by_tensor: moves the weights of chunks that decay by the rate of each along
  // the directions that step() has left. Completes the reports.
  virtual void move(std::span<const float> rates, std::span<ChunkReport> reports) = 0;

  // The owned chunks of step()'s weights, into an array of all parameters.
  virtual void next_weights(float* all) = 0;

  virtual void keep() = 0;

  // The weights of all parameters where the backend reads them: those of others are there only if
  // they are exchanged from there, too.
  [[nodiscard]] virtual float* all_weights() = 0;

  // What it keeps, as begin() has it.
  virtual void weights(float* all) = 0;
  virtual void moments(float* owned) = 0;

  // For tests: flips a bit of one float, of the weights, by its place among what is owned, or, with
  // that of all moments one after the other, of the moments.
  virtual void flip_weight(std::size_t place) = 0;
  virtual void flip_moment(std::size_t place) = 0;
};

}  // namespace dts::train
