// SPDX-License-Identifier: Apache-2.0
// Kernels of softmax: cross-entropy of logits.
#pragma once

#include "core/train/accelerator/kernels/fours.hpp"

#include <cmath>

namespace dts::train::accelerator {

// a / b from the rounded reciprocal of b and one correction: the bits of a division, unless it
// overflows or underflows, with a fraction of its instructions (P. Markstein, "Computation of
// Elementary Functions on the IBM RISC System/6000 Processor", 1990).
[[nodiscard]] DTS_BLOCK_CODE inline float quotient(float a, float b, float reciprocal) {
  const float estimate = a * reciprocal;
  return fmaf(fmaf(-estimate, b, a), reciprocal, estimate);
}

// For each row of logits: its loss, and whether the label's logit is the first of the largest. With
// has_gradient, the logits become scale * (softmax - target), where `smoothing` of the target is
// spread over all classes (model/blocks.hpp, Objective). Logits are read twice: each thread adds up
// powers relative to the largest logit that it has seen (M. Milakov and N. Gimelshein, "Online
// Normalizer Calculation for Softmax", 2018).
template <class Value>
struct CrossEntropy : Rowwise {  // width: classes

  struct Shared {
    float maxima[k_threads];
    float sums[k_threads];
    float totals[k_threads];
    int firsts[k_threads];
    float label_logit;
  };

  // The logits that a thread has seen, relative to the largest of them.
  struct RunningSums {
    float largest = -INFINITY;
    float sum = 0;    // of powers
    float total = 0;  // of the logits themselves, if they count
    int count = 0;
    int first = 0;  // class of the largest

    DTS_BLOCK_CODE void add(int i, float logit, bool counts) {
      if (logit > largest || count == 0) {
        move_to(logit);
        first = i;
      }
      sum += logit == largest ? 1.0F : expf(logit - largest);
      if (counts) total += logit == largest ? 0.0F : logit - largest;
      ++count;
    }

    DTS_BLOCK_CODE void move_to(float other) {
      if (count > 0 && largest != other) {
        sum *= expf(largest - other);
        total += static_cast<float>(count) * (largest - other);
      }
      largest = other;
    }
  };

  Value* logits = nullptr;
  const std::uint32_t* labels = nullptr;
  float scale = 1;
  float smoothing = 0;
  bool has_gradient = false;
  float* losses = nullptr;   // [rows]
  float* correct = nullptr;  // [rows], 0 or 1
  int pitch = 0;             // values from one row to the next; 0: width

  [[nodiscard]] DTS_CODE_OF_BOTH std::size_t row_at(std::size_t row) const {
    return row_begin(row, pitch == 0 ? width : pitch);
  }

  template <class Visit>
  void accesses(const Visit& visit) const {
    for (std::size_t at = 0; at < blocks(); ++at) {
      const std::size_t begin = row_at(at);
      const auto classes = static_cast<std::size_t>(width);
      if (has_gradient)
        accelerator::writes(visit, logits + begin, classes);
      else
        accelerator::reads(visit, static_cast<const Value*>(logits + begin), classes);
    }
    accelerator::reads(visit, labels, blocks());
    accelerator::writes(visit, losses, blocks());
    accelerator::writes(visit, correct, blocks());
  }

  template <class Block>
  DTS_BLOCK_CODE void run(const Block& block, Shared& shared) const {
    const std::size_t at = block.index();
    Value* const row = logits + row_at(at);
    const auto label = static_cast<int>(labels[at]);
    typename Block::template Kept<RunningSums> running(block);
    block.each([&](int thread) {
      RunningSums mine;
      each_few(thread, row, [&](int first, const Four& few, int count) {
        for (int i = 0; i < Four::k_count; ++i)
          if (i < count) mine.add(first + i, few.values[i], smoothing != 0);
      });
      running[thread] = mine;
      shared.maxima[thread] = mine.largest;
    });
    fold(block, shared.maxima, Larger());
    block.each([&](int thread) {
      if (running[thread].largest != shared.maxima[0]) running[thread].first = width;
      running[thread].move_to(shared.maxima[0]);
      shared.sums[thread] = running[thread].sum;
      shared.totals[thread] = running[thread].total;
      shared.firsts[thread] = running[thread].first;
      if (thread == 0) shared.label_logit = value_of(row[label]);
    });
    fold(block, shared.sums, Sum());
    fold(block, shared.totals, Sum());
    fold(block, shared.firsts, Smaller());
    block.each([&](int thread) {
      if (thread == 0) {
        losses[at] = logf(shared.sums[0]) -
                     label_share() * (shared.label_logit - shared.maxima[0]) -
                     (smoothing == 0 ? 0.0F : class_share() * shared.totals[0]);
        correct[at] = shared.firsts[0] == label ? 1.0F : 0.0F;
      }
      if (has_gradient) write_gradient(thread, shared, row, label);
    });
  }

 private:
  // Shares of the target: the additional share of the label, and the share of every class.
  [[nodiscard]] DTS_BLOCK_CODE float label_share() const { return 1.0F - smoothing; }

  [[nodiscard]] DTS_BLOCK_CODE float class_share() const {
    return smoothing / static_cast<float>(width);
  }

  DTS_BLOCK_CODE void write_gradient(int thread,
                                     const Shared& shared,
                                     Value* row,
                                     int label) const {
    const float each_share = class_share();
    const float own_share = label_share();
    const float largest = shared.maxima[0];
    const float sum = shared.sums[0];
    const float reciprocal = 1.0F / sum;
    each_few(thread, row, [&](int first, Four few, int count) {
      for (int i = 0; i < Four::k_count; ++i) {
        const float power = quotient(expf(few.values[i] - largest), sum, reciprocal);
        few.values[i] = scale * (power - each_share - (first + i == label ? own_share : 0.0F));
      }
      write_four(row + first, few, count);
    });
  }

  // Calls work(first class, values, count) for a thread's share of a row: four neighbours at a time
  // if rows are aligned for four.
  template <class Work>
  DTS_BLOCK_CODE void each_few(int thread, const Value* row, const Work& work) const {
    const bool aligned = (pitch == 0 ? width : pitch) % Four::k_count == 0;
    const int step = aligned ? Four::k_count : 1;
    for (int first = thread * step; first < width; first += k_threads * step) {
      const int count = width - first < step ? width - first : step;
      work(first, read_four(row + first, count), count);
    }
  }
};

}  // namespace dts::train::accelerator
