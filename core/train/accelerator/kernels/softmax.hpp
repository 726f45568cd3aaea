// SPDX-License-Identifier: Apache-2.0
// Kernels of softmax: of logits with their cross-entropy.
#pragma once

#include "core/train/accelerator/kernels/block.hpp"

#include <cmath>

namespace dts::train::accelerator {

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
