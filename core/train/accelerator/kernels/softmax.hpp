// SPDX-License-Identifier: Apache-2.0
// Kernels of softmax: of logits with their cross-entropy.
#pragma once

#include "core/train/accelerator/kernels/rounding.hpp"

#include <cmath>

namespace dts::train::accelerator {

// Of each row of logits: its loss, and whether the label's logit is the largest. With a gradient,
// the logits become scale * (softmax - target), where `smoothing` of the target is spread over all
// classes (model/blocks.hpp, Objective), or, rounded, what is at `gradient`. Logits are read twice:
// each thread adds up powers over the largest logit that it has seen (M. Milakov and N. Gimelshein,
// "Online Normalizer Calculation for Softmax", 2018).
struct CrossEntropy : Rowwise {  // width: classes

  struct Shared {
    float tops[k_threads];
    float sums[k_threads];
    float totals[k_threads];
    float at_label;
  };

  // Logits that a thread has seen, relative to the largest of them.
  struct Seen {
    float top = -INFINITY;
    float sum = 0;    // of powers
    float total = 0;  // of the logits themselves
    int count = 0;

    DTS_BLOCK_CODE void add(float logit) {
      if (logit > top || count == 0) move_to(logit);
      sum += logit == top ? 1.0F : expf(logit - top);
      total += logit == top ? 0.0F : logit - top;
      ++count;
    }

    DTS_BLOCK_CODE void move_to(float other) {
      if (count > 0 && top != other) {
        sum *= expf(top - other);
        total += static_cast<float>(count) * (top - other);
      }
      top = other;
    }
  };

  float* logits = nullptr;
  const std::uint32_t* labels = nullptr;
  float scale = 1;
  float smoothing = 0;
  bool has_gradient = false;
  float* losses = nullptr;   // [rows]
  float* correct = nullptr;  // [rows], 0 or 1
  Bfloat* gradient = nullptr;
  int pitch = 0;  // values from one row to the next, also of the gradient; 0: width

  [[nodiscard]] DTS_CODE_OF_BOTH std::size_t row_at(std::size_t row) const {
    return row_begin(row, pitch == 0 ? width : pitch);
  }

  template <class Visit>
  void accesses(const Visit& visit) const {
    for (std::size_t at = 0; at < blocks(); ++at) {
      const std::size_t begin = row_at(at);
      const auto classes = static_cast<std::size_t>(width);
      if (has_gradient && gradient == nullptr)
        accelerator::writes(visit, logits + begin, classes);
      else
        accelerator::reads(visit, static_cast<const float*>(logits + begin), classes);
      if (has_gradient && gradient != nullptr)
        accelerator::writes(visit, gradient + begin, classes);
    }
    accelerator::reads(visit, labels, blocks());
    accelerator::writes(visit, losses, blocks());
    accelerator::writes(visit, correct, blocks());
  }

  template <class Block>
  DTS_BLOCK_CODE void run(const Block& block, Shared& shared) const {
    const std::size_t at = block.index();
    float* const row = logits + row_at(at);
    const auto label = static_cast<int>(labels[at]);
    const float spread = smoothing / static_cast<float>(width);
    const float kept = 1.0F - smoothing;
    typename Block::template Kept<Seen> seen(block);
    block.each([&](int thread) {
      seen[thread] = {};
      strided<k_threads>(thread, width, [&](int i) { seen[thread].add(row[i]); });
      shared.tops[thread] = seen[thread].top;
    });
    fold(block, shared.tops, Larger());
    block.each([&](int thread) {
      seen[thread].move_to(shared.tops[0]);
      shared.sums[thread] = seen[thread].sum;
      shared.totals[thread] = seen[thread].total;
      if (thread == 0) shared.at_label = row[label];
    });
    fold(block, shared.sums, Sum());
    fold(block, shared.totals, Sum());
    block.each([&](int thread) {
      if (thread == 0) {
        losses[at] = logf(shared.sums[0]) - kept * (shared.at_label - shared.tops[0]) -
                     (spread == 0 ? 0.0F : spread * shared.totals[0]);
        correct[at] = shared.at_label >= shared.tops[0] ? 1.0F : 0.0F;
      }
      if (!has_gradient) return;
      strided<k_threads>(thread, width, [&](int i) {
        const float power = expf(row[i] - shared.tops[0]) / shared.sums[0];
        const float d = scale * (power - spread - (i == label ? kept : 0.0F));
        if (gradient != nullptr)
          put(gradient[row_at(at) + static_cast<std::size_t>(i)], d);
        else
          row[i] = d;
      });
    });
  }
};

}  // namespace dts::train::accelerator
