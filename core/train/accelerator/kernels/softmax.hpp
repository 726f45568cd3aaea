// SPDX-License-Identifier: Apache-2.0
// Kernels of softmax: of attention's scores, and of logits with their cross-entropy.
#pragma once

#include "core/train/accelerator/kernels/block.hpp"

#include <cmath>

namespace dts::train::accelerator {

// Scores [rows][width] become weights: row r is of position r % width, and sees columns up to that
// one: exp(scale s - top) / sum, 0 elsewhere.
struct CausalSoftmax : Rowwise {
  struct Shared {
    float tops[k_threads];
    float sums[k_threads];
  };

  float scale = 1;
  float* values = nullptr;

  template <class Visit>
  void accesses(const Visit& visit) const {
    accelerator::writes(visit, values, area());
  }

  template <class Block>
  DTS_BLOCK_CODE void run(const Block& block, Shared& shared) const {
    float* const row = values + row_begin(block.index(), width);
    const int seen = static_cast<int>(block.index() % static_cast<std::size_t>(width)) + 1;
    block.each([&](int thread) {
      float top = row[0] * scale;
      strided<k_threads>(thread, seen, [&](int i) { top = Larger()(top, row[i] * scale); });
      shared.tops[thread] = top;
    });
    fold(block, shared.tops, Larger());
    block.each([&](int thread) {
      float sum = 0;
      strided<k_threads>(
          thread, seen, [&](int i) { sum += expf(row[i] * scale - shared.tops[0]); });
      shared.sums[thread] = sum;
    });
    fold(block, shared.sums, Sum());
    block.each([&](int thread) {
      const float inverse = 1.0F / shared.sums[0];
      strided<k_threads>(thread, width, [&](int i) {
        row[i] = i < seen ? expf(row[i] * scale - shared.tops[0]) * inverse : 0.0F;
      });
    });
  }
};

// d_weights becomes the gradient of the scores, before their scale.
struct CausalSoftmaxBackward : Rowwise {
  struct Shared {
    float levels[k_threads];
  };

  float scale = 1;
  const float* weights = nullptr;
  float* d_weights = nullptr;

  template <class Visit>
  void accesses(const Visit& visit) const {
    accelerator::reads(visit, weights, area());
    accelerator::writes(visit, d_weights, area());
  }

  template <class Block>
  DTS_BLOCK_CODE void run(const Block& block, Shared& shared) const {
    const std::size_t begin = row_begin(block.index(), width);
    const float* const row = weights + begin;
    float* const d_row = d_weights + begin;
    const int seen = static_cast<int>(block.index() % static_cast<std::size_t>(width)) + 1;
    block.each([&](int thread) {
      float level = 0;
      strided<k_threads>(thread, seen, [&](int i) { level += row[i] * d_row[i]; });
      shared.levels[thread] = level;
    });
    fold(block, shared.levels, Sum());
    block.each([&](int thread) {
      strided<k_threads>(thread, width, [&](int i) {
        d_row[i] = i < seen ? row[i] * (d_row[i] - shared.levels[0]) * scale : 0.0F;
      });
    });
  }
};

// Of each row of logits: its loss, and whether the label's logit is the largest. With a gradient,
// the logits become scale * (softmax - target), where `smoothing` of the target is spread over all
// classes (model/blocks.hpp, Objective).
struct CrossEntropy : Rowwise {  // width: classes

  struct Shared {
    float tops[k_threads];
    float sums[k_threads];
    float totals[k_threads];
    float at_label;
  };

  float* logits = nullptr;
  const std::uint32_t* labels = nullptr;
  float scale = 1;
  float smoothing = 0;
  bool has_gradient = false;
  float* losses = nullptr;   // [rows]
  float* correct = nullptr;  // [rows], 0 or 1

  template <class Visit>
  void accesses(const Visit& visit) const {
    accelerator::writes(visit, logits, area());
    accelerator::reads(visit, labels, blocks());
    accelerator::writes(visit, losses, blocks());
    accelerator::writes(visit, correct, blocks());
  }

  template <class Block>
  DTS_BLOCK_CODE void run(const Block& block, Shared& shared) const {
    const std::size_t at = block.index();
    float* const row = logits + row_begin(at, width);
    const auto label = static_cast<int>(labels[at]);
    const float spread = smoothing / static_cast<float>(width);
    const float kept = 1.0F - smoothing;
    block.each([&](int thread) {
      float top = row[0];
      strided<k_threads>(thread, width, [&](int i) { top = Larger()(top, row[i]); });
      shared.tops[thread] = top;
    });
    fold(block, shared.tops, Larger());
    block.each([&](int thread) {
      float sum = 0;
      float total = 0;
      strided<k_threads>(thread, width, [&](int i) {
        const float below = row[i] - shared.tops[0];
        sum += expf(below);
        total += below;
      });
      shared.sums[thread] = sum;
      shared.totals[thread] = total;
      if (thread == 0) shared.at_label = row[label];
    });
    fold(block, shared.sums, Sum());
    fold(block, shared.totals, Sum());
    block.each([&](int thread) {
      if (thread == 0) {
        losses[at] = logf(shared.sums[0]) - kept * (shared.at_label - shared.tops[0]) -
                     spread * shared.totals[0];
        correct[at] = shared.at_label >= shared.tops[0] ? 1.0F : 0.0F;
      }
      if (!has_gradient) return;
      strided<k_threads>(thread, width, [&](int i) {
        const float power = expf(row[i] - shared.tops[0]) / shared.sums[0];
        row[i] = scale * (power - spread - (i == label ? kept : 0.0F));
      });
    });
  }
};

}  // namespace dts::train::accelerator
