// SPDX-License-Identifier: Apache-2.0
// Kernels of the optimiser's step.
#pragma once

#include "core/train/accelerator/kernels/chunks.hpp"

#include <cmath>

namespace dts::train::accelerator {

// The state of one float, before or after the step.
struct FloatState {
  float weight = 0;
  float moments[k_most_chunk_moments] = {};
};

template <UpdateRule rule>
inline constexpr int k_moments_of = rule == UpdateRule::sgd || rule == UpdateRule::nesterov ? 1 : 2;

// The same as the processor's update of that name (core/train/optim), except that each compiler may
// contract products and sums differently.
template <UpdateRule rule>
[[nodiscard]] DTS_BLOCK_CODE FloatState
updated(const UpdateFactors& f, bool decays, float gradient, const FloatState& before) {
  FloatState next;
  if constexpr (k_moments_of<rule> == 1) {
    const float g = decays ? gradient + f.decay * before.weight : gradient;
    next.moments[0] = g + f.momentum * before.moments[0];
    const float direction =
        rule == UpdateRule::nesterov ? g + f.momentum * next.moments[0] : next.moments[0];
    next.weight = before.weight - f.rate * direction;
  } else {
    next.moments[0] = f.beta1 * before.moments[0] + f.rest1 * gradient;
    next.moments[1] = f.beta2 * before.moments[1] + f.rest2 * (gradient * gradient);
    const float direction =
        next.moments[0] * f.unbias1 / (sqrtf(next.moments[1]) * f.unbias2 + f.epsilon);
    if constexpr (rule == UpdateRule::adam)
      next.weight = (decays ? f.keep : 1.0F) * before.weight - f.rate * direction;
    else if (decays)
      next.weight =
          direction + f.decay * before.weight;  // the direction, which ApplyDirections uses
    else
      next.weight = before.weight - f.rate * direction;
  }
  return next;
}

// The complete step: reads and writes everything once.
template <UpdateRule rule>
struct UpdateChunks : Chunkwise {
  static constexpr int k_kinds = k_moments_of<rule>;
  static constexpr int k_arrays = 2 * (1 + k_kinds);  // before and after

  struct Shared {
    double squares[3][k_threads];
    Checksums<k_arrays> sums;
  };

  // The values read for one float.
  struct Inputs {
    float gradient = 0;
    FloatState before;
  };

  UpdateFactors factors;
  const float* gradients = nullptr;  // of owned parameters, like all arrays but
  const float* weights = nullptr;    // of all parameters
  float* next_weights = nullptr;
  const float* moments = nullptr;
  float* next_moments = nullptr;
  ChunkReport* reports = nullptr;

  template <class Visit>
  void accesses(const Visit& visit) const {
    accelerator::reads(visit, chunks, count);
    accelerator::reads(visit, gradients, owned);
    accelerator::reads(visit, weights, parameters);
    accelerator::writes(visit, next_weights, owned);
    accelerator::reads(visit, moments, k_kinds * owned);
    accelerator::writes(visit, next_moments, k_kinds * owned);
    accelerator::writes(visit, reports, count);
  }

  template <class Block>
  DTS_BLOCK_CODE void run(const Block& block, Shared& shared) const {
    const OwnChunk chunk = chunks[block.index()];
    block.each([&](int thread) { move_floats(thread, chunk, shared); });
    for (auto& squares : shared.squares) fold(block, squares, Sum());
    shared.sums.finish(block, chunk.count);
    block.each([&](int thread) {
      if (thread != 0) return;
      ChunkReport& report = reports[block.index()];
      report.gradient_squares = shared.squares[0][0];
      report.weight_squares = shared.squares[1][0];
      report.next_squares = shared.squares[2][0];
      report.weights = shared.sums.all[0];
      report.next_weights = shared.sums.all[1];
      for (int kind = 0; kind < k_kinds; ++kind) {
        report.moments[kind] = shared.sums.all[2 + 2 * kind];
        report.next_moments[kind] = shared.sums.all[3 + 2 * kind];
      }
    });
  }

 private:
  DTS_BLOCK_CODE void move_floats(int thread, const OwnChunk& chunk, Shared& shared) const {
    using Sums = Checksums<k_arrays>;
    double of_gradient = 0;
    double of_weight = 0;
    double of_next = 0;
    std::uint32_t chains[k_arrays] = {};
    const auto read = [&](std::uint32_t i) {
      const std::size_t at = chunk.place + i;
      Inputs inputs{gradients[at], {weights[chunk.begin + i], {}}};
      for (int kind = 0; kind < k_kinds; ++kind)
        inputs.before.moments[kind] = moments[static_cast<std::size_t>(kind) * owned + at];
      return inputs;
    };
    each_float(thread, chunk, read, [&](std::uint32_t i, const Inputs& inputs) {
      const std::size_t at = chunk.place + i;
      const float gradient = inputs.gradient;
      const FloatState& before = inputs.before;
      const FloatState next =
          updated<rule>(factors, chunk.decays != 0, factors.scale * gradient, before);
      next_weights[at] = next.weight;
      Sums::add(chains[0], before.weight);
      Sums::add(chains[1], next.weight);
      for (int kind = 0; kind < k_kinds; ++kind) {
        next_moments[static_cast<std::size_t>(kind) * owned + at] = next.moments[kind];
        Sums::add(chains[2 + 2 * kind], before.moments[kind]);
        Sums::add(chains[3 + 2 * kind], next.moments[kind]);
      }
      of_gradient += static_cast<double>(gradient) * static_cast<double>(gradient);
      of_weight += static_cast<double>(before.weight) * static_cast<double>(before.weight);
      of_next += static_cast<double>(next.weight) * static_cast<double>(next.weight);
    });
    shared.squares[0][thread] = of_gradient;
    shared.squares[1][thread] = of_weight;
    shared.squares[2][thread] = of_next;
    for (int array = 0; array < k_arrays; ++array)
      shared.sums.chains[array][thread] = chains[array];
  }
};

// next_weights = weights - rates[chunk] next_weights for chunks that decay; next_weights has their
// direction before.
struct ApplyDirections : Chunkwise {
  struct Shared {
    double squares[k_threads];
    Checksums<1> sums;
  };

  const float* rates = nullptr;  // by chunk
  const float* weights = nullptr;
  float* next_weights = nullptr;
  ChunkReport* reports = nullptr;

  template <class Visit>
  void accesses(const Visit& visit) const {
    accelerator::reads(visit, chunks, count);
    accelerator::reads(visit, rates, count);
    accelerator::reads(visit, weights, parameters);
    accelerator::writes(visit, next_weights, owned);
    accelerator::writes(visit, reports, count);
  }

  template <class Block>
  DTS_BLOCK_CODE void run(const Block& block, Shared& shared) const {
    const OwnChunk chunk = chunks[block.index()];
    const float rate = rates[block.index()];
    if (chunk.decays == 0) return;
    block.each([&](int thread) {
      double squares = 0;
      std::uint32_t chain = 0;
      each_float(thread, chunk, [&](std::uint32_t i) {
        float& direction = next_weights[chunk.place + i];
        const float next = weights[chunk.begin + i] - rate * direction;
        direction = next;
        Checksums<1>::add(chain, next);
        squares += static_cast<double>(next) * static_cast<double>(next);
      });
      shared.squares[thread] = squares;
      shared.sums.chains[0][thread] = chain;
    });
    fold(block, shared.squares, Sum());
    shared.sums.finish(block, chunk.count);
    block.each([&](int thread) {
      if (thread != 0) return;
      reports[block.index()].next_squares = shared.squares[0];
      reports[block.index()].next_weights = shared.sums.all[0];
    });
  }
};

}  // namespace dts::train::accelerator
