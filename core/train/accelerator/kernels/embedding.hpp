// SPDX-License-Identifier: Apache-2.0
// Kernels that look tokens up in a table, and add up the gradients of its rows without two blocks
// adding to the same place.
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

// gradient[token] += d_out of all rows with that token, from first to last. A block handles some
// columns of one row in `order`; if that row is the first with its token, it continues to the end
// of the token's run. It finds that end first, so that it can read several rows ahead: in text,
// some runs have thousands of rows.
struct TokenGradients {
  static constexpr int k_threads = k_block_threads;

  struct Shared {};

  int vocabulary = 0;  // rows of the table
  int width = 0;
  int rows = 0;  // of d_out
  const std::uint32_t* ids = nullptr;
  const std::uint32_t* order = nullptr;  // rows ordered by token, then ascending
  const float* d_out = nullptr;
  float* gradient = nullptr;

  [[nodiscard]] DTS_CODE_OF_BOTH int parts() const { return (width + k_threads - 1) / k_threads; }

  [[nodiscard]] std::size_t blocks() const {
    return row_begin(static_cast<std::size_t>(rows), parts());
  }

  template <class Visit>
  void accesses(const Visit& visit) const {
    accelerator::reads(visit, ids, static_cast<std::size_t>(rows));
    accelerator::reads(visit, order, static_cast<std::size_t>(rows));
    accelerator::reads(visit, d_out, row_begin(static_cast<std::size_t>(rows), width));
    accelerator::writes(visit, gradient, row_begin(static_cast<std::size_t>(vocabulary), width));
  }

  template <class Block>
  DTS_BLOCK_CODE void run(const Block& block, Shared& /*shared*/) const {
    const int first = static_cast<int>(block.index() / static_cast<std::size_t>(parts()));
    const int part = static_cast<int>(block.index() % static_cast<std::size_t>(parts()));
    const std::uint32_t token = ids[order[first]];
    if (first > 0 && ids[order[first - 1]] == token) return;
    const int end = end_of_run(first, token);
    block.each([&](int thread) {
      const int column = part * k_threads + thread;
      if (column >= width) return;
      float& to = gradient[row_begin(token, width) + static_cast<std::size_t>(column)];
      const auto value = [&](int i) {
        return d_out[row_begin(order[i], width) + static_cast<std::size_t>(column)];
      };
      constexpr int k_ahead = 8;
      float sum = to;
      int i = first;
      for (; i + k_ahead <= end; i += k_ahead) {
        float values[k_ahead];
        for (int j = 0; j < k_ahead; ++j) values[j] = value(i + j);
        for (int j = 0; j < k_ahead; ++j) sum += values[j];
      }
      for (; i < end; ++i) sum += value(i);
      to = sum;
    });
  }

 private:
  // Searches by doubling steps, then by bisection.
  [[nodiscard]] DTS_BLOCK_CODE int end_of_run(int first, std::uint32_t token) const {
    int step = 1;
    while (first + step < rows && ids[order[first + step]] == token) step *= 2;
    int within = first + step / 2;
    int end = first + step < rows ? first + step : rows;
    while (end - within > 1) {
      const int middle = within + (end - within) / 2;
      (ids[order[middle]] == token ? within : end) = middle;
    }
    return end;
  }
};

// gradient[position] = the sum of d_out at that position over all samples.
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
