// SPDX-License-Identifier: Apache-2.0
// Kernels that look tokens up in a table, and add up the gradients of its rows: a block a row of
// the table, in the order of the tokens, so that no two blocks add to one place.
#pragma once

#include "core/train/accelerator/kernels/block.hpp"

namespace dts::train::accelerator {

// out[row] = table[ids[row]] + positions[row % context]; positions [context][width] may be nullptr.
struct EmbeddingForward : Elementwise {
  int width = 0;
  int context = 0;
  const std::uint32_t* ids = nullptr;
  const float* table = nullptr;
  const float* positions = nullptr;
  float* out = nullptr;
  int vocabulary = 0;  // rows of the table

  template <class Visit>
  void accesses(const Visit& visit) const {
    const std::size_t rows = count / static_cast<std::size_t>(width);
    accelerator::reads(visit, ids, rows);
    accelerator::reads(visit, table, row_begin(static_cast<std::size_t>(vocabulary), width));
    accelerator::reads(visit, positions, row_begin(static_cast<std::size_t>(context), width));
    accelerator::writes(visit, out, count);
  }

  template <class Block>
  DTS_BLOCK_CODE void run(const Block& block, Shared& /*shared*/) const {
    for_each(block, [&](std::size_t i) {
      const auto columns = static_cast<std::size_t>(width);
      const std::size_t row = i / columns;
      const std::size_t column = i % columns;
      const float position =
          positions == nullptr
              ? 0.0F
              : positions[row % static_cast<std::size_t>(context) * columns + column];
      out[i] = table[ids[row] * columns + column] + position;
    });
  }
};

// gradient[token] += d_out of all rows with that token, from the first to the last.
struct TokenGradients : Rowwise {  // a row is one of the table

  struct Shared {
    int found[k_threads];
  };

  int positions = 0;  // rows of d_out
  const std::uint32_t* ids = nullptr;
  const float* d_out = nullptr;
  float* gradient = nullptr;
  bool overwrites = false;  // instead of adding

  template <class Visit>
  void accesses(const Visit& visit) const {
    accelerator::reads(visit, ids, static_cast<std::size_t>(positions));
    accelerator::reads(visit, d_out, row_begin(static_cast<std::size_t>(positions), width));
    accelerator::writes(visit, gradient, area());
  }

  template <class Block>
  DTS_BLOCK_CODE void run(const Block& block, Shared& shared) const {
    const std::size_t token = block.index();
    block.each([&](int thread) {
      int found = 0;
      strided<k_threads>(thread, positions, [&](int i) { found += ids[i] == token ? 1 : 0; });
      shared.found[thread] = found;
    });
    fold(block, shared.found, Sum());
    block.each([&](int thread) {
      if (shared.found[0] == 0 && !overwrites) return;  // as most rows of a large table
      float* const to = gradient + row_begin(token, width);
      strided<k_threads>(thread, width, [&](int column) {
        float sum = overwrites ? 0.0F : to[column];
        int left = shared.found[0];
        for (int i = 0; left > 0; ++i)
          if (ids[i] == token) {
            sum += d_out[row_begin(static_cast<std::size_t>(i), width) +
                         static_cast<std::size_t>(column)];
            --left;
          }
        to[column] = sum;
      });
    });
  }
};

// gradient[position] = the sum of d_out at that position of all samples.
struct PositionGradients : Elementwise {  // an element of [context][width]
  int batch = 0;
  const float* d_out = nullptr;
  float* gradient = nullptr;

  template <class Visit>
  void accesses(const Visit& visit) const {
    accelerator::reads(visit, d_out, static_cast<std::size_t>(batch) * count);
    accelerator::writes(visit, gradient, count);
  }

  template <class Block>
  DTS_BLOCK_CODE void run(const Block& block, Shared& /*shared*/) const {
    for_each(block, [&](std::size_t i) {
      float sum = 0;
      for (int sample = 0; sample < batch; ++sample)
        sum += d_out[static_cast<std::size_t>(sample) * count + i];
      gradient[i] = sum;
    });
  }
};

}  // namespace dts::train::accelerator
