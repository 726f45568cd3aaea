// SPDX-License-Identifier: Apache-2.0
// Kernels that add up a whole array, in double precision and in a fixed order.
#pragma once

#include "core/train/accelerator/kernels/block.hpp"

namespace dts::train::accelerator {

// partials[block] = the sum of the squares of the block's k_each values.
struct Squares {
  static constexpr int k_threads = k_block_threads;
  static constexpr std::size_t k_each = 65536;

  struct Shared {
    double sums[k_threads];
  };

  const float* values = nullptr;
  std::size_t count = 0;
  double* partials = nullptr;

  [[nodiscard]] std::size_t blocks() const { return blocks_of(count, k_each); }

  template <class Visit>
  void accesses(const Visit& visit) const {
    accelerator::reads(visit, values, count);
    accelerator::writes(visit, partials, blocks());
  }

  template <class Block>
  DTS_BLOCK_CODE void run(const Block& block, Shared& shared) const {
    const std::size_t begin = block.index() * k_each;
    const std::size_t end = begin + k_each < count ? begin + k_each : count;
    block.each([&](int thread) {
      double sum = 0;
      for (std::size_t i = begin + static_cast<std::size_t>(thread); i < end; i += k_threads)
        sum += static_cast<double>(values[i]) * static_cast<double>(values[i]);
      shared.sums[thread] = sum;
    });
    fold(block, shared.sums, Sum());
    block.each([&](int thread) {
      if (thread == 0) partials[block.index()] = shared.sums[0];
    });
  }
};

// *sum = the sum of `count` values.
template <class Value>
struct Total {
  static constexpr int k_threads = k_block_threads;

  struct Shared {
    double sums[k_threads];
  };

  const Value* values = nullptr;
  int count = 0;
  float* sum = nullptr;

  [[nodiscard]] std::size_t blocks() const { return 1; }

  template <class Visit>
  void accesses(const Visit& visit) const {
    accelerator::reads(visit, values, static_cast<std::size_t>(count));
    accelerator::writes(visit, sum, 1);
  }

  template <class Block>
  DTS_BLOCK_CODE void run(const Block& block, Shared& shared) const {
    block.each([&](int thread) {
      double all = 0;
      strided<k_threads>(thread, count, [&](int i) { all += static_cast<double>(values[i]); });
      shared.sums[thread] = all;
    });
    fold(block, shared.sums, Sum());
    block.each([&](int thread) {
      if (thread == 0) *sum = static_cast<float>(shared.sums[0]);
    });
  }
};

}  // namespace dts::train::accelerator
