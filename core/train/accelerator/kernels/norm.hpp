// SPDX-License-Identifier: Apache-2.0
// Kernels of layer normalisation, and of RMS normalisation, which uses zero instead of the mean and
// has no beta.
#pragma once

#include "core/train/accelerator/kernels/rounding.hpp"

#include <cmath>

namespace dts::train::accelerator {

enum class NormKind { layer, rms };

// The middle that is subtracted from the values of a row.
template <NormKind kind>
[[nodiscard]] DTS_BLOCK_CODE inline float middle_of(const float* mean, std::size_t row) {
  if constexpr (kind == NormKind::layer)
    return mean[row];
  else
    return 0;
}

// For each row y = (x - mean) / sqrt(variance + epsilon) * gamma + beta; keeps mean and inverse = 1
// / sqrt(variance + epsilon). With NormKind::rms, y = x / sqrt(mean square + epsilon) * gamma; beta
// and mean are not used.
template <NormKind kind, class Out>
struct Normalise : Groupwise {
  struct Shared {
    float sums[k_threads];
    float squares[k_threads];
  };

  float epsilon = 0;
  const float* x = nullptr;
  const float* gamma = nullptr;
  const float* beta = nullptr;
  Out* y = nullptr;
  float* mean = nullptr;
  float* inverse = nullptr;

  template <class Visit>
  void accesses(const Visit& visit) const {
    accelerator::reads(visit, x, area());
    accelerator::reads(visit, gamma, static_cast<std::size_t>(width));
    accelerator::reads(visit, beta, static_cast<std::size_t>(width));
    accelerator::writes(visit, y, area());
    accelerator::writes(visit, mean, static_cast<std::size_t>(rows));
    accelerator::writes(visit, inverse, static_cast<std::size_t>(rows));
  }

  template <class Block>
  DTS_BLOCK_CODE void run(const Block& block, Shared& shared) const {
    const auto columns = static_cast<float>(width);
    if constexpr (kind == NormKind::layer) add_up(block, shared);
    const auto middle_of_row = [&](int thread) {
      return kind == NormKind::layer ? shared.sums[first_of(thread)] / columns : 0.0F;
    };
    each_row(block, [&](int thread, std::size_t, std::size_t begin) {
      const float middle = middle_of_row(thread);
      float sum = 0;
      each_column(thread, [&](int i) {
        const float deviation = x[begin + static_cast<std::size_t>(i)] - middle;
        sum += deviation * deviation;
      });
      shared.squares[thread] = sum;
    });
    fold_runs<k_lanes>(block, shared.squares, Sum());
    each_row(block, [&](int thread, std::size_t row, std::size_t begin) {
      const float middle = middle_of_row(thread);
      const float scale = 1.0F / sqrtf(shared.squares[first_of(thread)] / columns + epsilon);
      if (thread == first_of(thread) && kind == NormKind::layer) mean[row] = middle;
      if (thread == first_of(thread)) inverse[row] = scale;
      constexpr int k_ahead = 8;
      read_ahead<k_ahead>(
          thread % k_lanes,
          width,
          k_lanes,
          [&](int i) {
            return Inputs{x[begin + static_cast<std::size_t>(i)],
                          gamma[i],
                          kind == NormKind::layer ? beta[i] : 0.0F};
          },
          [&](int i, const Inputs& inputs) {
            const float normal = (inputs.x - middle) * scale * inputs.gamma;
            store(y[begin + static_cast<std::size_t>(i)],
                  kind == NormKind::layer ? normal + inputs.beta : normal);
          });
    });
  }

 private:
  struct Inputs {
    float x;
    float gamma;
    float beta;
  };

  template <class Block>
  DTS_BLOCK_CODE void add_up(const Block& block, Shared& shared) const {
    each_row(block, [&](int thread, std::size_t, std::size_t begin) {
      float sum = 0;
      each_column(thread, [&](int i) { sum += x[begin + static_cast<std::size_t>(i)]; });
      shared.sums[thread] = sum;
    });
    fold_runs<k_lanes>(block, shared.sums, Sum());
  }
};

// The rows per block of NormaliseBackward, a multiple of 32: many rows mean few runs, whose sums
// are added up later; few rows mean enough blocks to keep a device busy.
[[nodiscard]] constexpr int norm_rows_each(int rows) {
  return rows >= 32768 ? 128 : 32;
}

// The gradient of x, which overwrites d_x or is added to it, and the gradients of gamma and (with
// NormKind::layer) beta, summed over each block's run of rows: d_gamma and d_beta are
// [blocks()][width]. 32 rows are read twice, the second time from a cache: first for the sums of
// each row, with 32 threads per row, then column by column.
template <NormKind kind, class Gradient>
struct NormaliseBackward {
  static constexpr int k_threads = k_block_threads;
  static constexpr int k_lanes = 32;  // per row
  static constexpr int k_rows = 32;   // at once
  static constexpr int k_groups = k_rows * k_lanes / k_threads;

  // Sums for k_groups groups of rows that are handled side by side.
  struct Shared {
    float levels[k_groups][k_threads];
    float slopes[k_groups][k_threads];
  };

  int rows = 0;
  int width = 0;
  int rows_each = 0;  // norm_rows_each()
  const float* x = nullptr;
  const float* gamma = nullptr;
  const float* mean = nullptr;
  const float* inverse = nullptr;
  const Gradient* d_y = nullptr;
  float* d_x = nullptr;
  bool adds = false;
  Bfloat* copy = nullptr;  // rounded copy of d_x; nullptr: none
  float* d_gamma = nullptr;
  float* d_beta = nullptr;

  [[nodiscard]] std::size_t blocks() const {
    return blocks_of(static_cast<std::size_t>(rows), static_cast<std::size_t>(rows_each));
  }

  template <class Visit>
  void accesses(const Visit& visit) const {
    const std::size_t area = row_begin(static_cast<std::size_t>(rows), width);
    accelerator::writes(visit, copy, area);
    accelerator::reads(visit, x, area);
    accelerator::reads(visit, gamma, static_cast<std::size_t>(width));
    accelerator::reads(visit, mean, static_cast<std::size_t>(rows));
    accelerator::reads(visit, inverse, static_cast<std::size_t>(rows));
    accelerator::reads(visit, d_y, area);
    accelerator::writes(visit, d_x, area);
    accelerator::writes(visit, d_gamma, row_begin(blocks(), width));
    accelerator::writes(visit, d_beta, row_begin(blocks(), width));
  }

  template <class Block>
  DTS_BLOCK_CODE void run(const Block& block, Shared& shared) const {
    const int begin = static_cast<int>(block.index()) * rows_each;
    const int end = begin + rows_each < rows ? begin + rows_each : rows;
    for (int first = begin; first < end; first += k_rows) {
      add_up(block, shared, first, end);
      for (int column = 0; column < width; column += k_threads)
        block.each([&](int thread) {
          if (column + thread < width)
            compute_column(shared,
                           first,
                           end,
                           column + thread,
                           sums_of(block, column + thread),
                           first == begin);
        });
    }
  }

 private:
  // Computes the means of each row, stored at the index of its first thread.
  template <class Block>
  DTS_BLOCK_CODE void add_up(const Block& block, Shared& shared, int first, int end) const {
    block.each_in_warps([&](int thread) {
      for (int group = 0; group < k_groups; ++group)
        sum_row(shared, thread, group, first + row_of(group, thread), end);
    });
    for (int half = k_lanes / 2; half > 0; half /= 2)
      block.each_in_warps([&](int thread) {
        if (thread % k_lanes >= half) return;
        for (int group = 0; group < k_groups; ++group) {
          shared.levels[group][thread] += shared.levels[group][thread + half];
          shared.slopes[group][thread] += shared.slopes[group][thread + half];
        }
      });
    block.each([&](int thread) {
      if (thread % k_lanes > 0) return;
      for (int group = 0; group < k_groups; ++group) {
        shared.levels[group][thread] /= static_cast<float>(width);
        shared.slopes[group][thread] /= static_cast<float>(width);
      }
    });
  }

  [[nodiscard]] static DTS_BLOCK_CODE int row_of(int group, int thread) {
    return group * (k_threads / k_lanes) + thread / k_lanes;
  }

  DTS_BLOCK_CODE void sum_row(Shared& shared, int thread, int group, int row, int end) const {
    float level = 0;
    float slope = 0;
    if (row < end) {
      const auto r = static_cast<std::size_t>(row);
      const float middle = middle_of<kind>(mean, r);
      const float scale = inverse[row];
      strided<k_lanes>(thread % k_lanes, width, [&](int i) {
        const std::size_t at = row_begin(r, width) + static_cast<std::size_t>(i);
        const float d = value_of(d_y[at]) * gamma[i];
        level += d;
        slope += d * ((x[at] - middle) * scale);
      });
    }
    shared.levels[group][thread] = level;
    shared.slopes[group][thread] = slope;
  }

  // The offset of a column's sums for this block's run.
  template <class Block>
  [[nodiscard]] DTS_BLOCK_CODE std::size_t sums_of(const Block& block, int column) const {
    return row_begin(block.index(), width) + static_cast<std::size_t>(column);
  }

  // Computes a column for all rows. If `begins` is false, adds to the sums at `to`. Reads some rows
  // before it writes any of them; the compiler would not, because the arrays might overlap.
  DTS_BLOCK_CODE void compute_column(
      const Shared& shared, int first, int end, int column, std::size_t to, bool begins) const {
    constexpr int k_ahead = 4;
    float gamma_sum = begins ? 0 : d_gamma[to];
    float beta_sum = begins || kind == NormKind::rms ? 0 : d_beta[to];
    const float factor = gamma[column];
    for (int row = 0; row < k_rows && first + row < end; row += k_ahead) {
      const int count = end - first - row;
      float values[k_ahead] = {};
      float gradients[k_ahead] = {};
      float previous[k_ahead] = {};
      for (int i = 0; i < k_ahead; ++i) {
        if (i >= count) continue;
        const std::size_t at = place(first + row + i, column);
        values[i] = x[at];
        gradients[i] = value_of(d_y[at]);
        previous[i] = adds ? d_x[at] : 0;
      }
      for (int i = 0; i < k_ahead; ++i) {
        if (i >= count) continue;
        const auto r = static_cast<std::size_t>(first + row + i);
        const int group = (row + i) / (k_threads / k_lanes);
        const int thread = (row + i) % (k_threads / k_lanes) * k_lanes;
        const float level = kind == NormKind::layer ? shared.levels[group][thread] : 0.0F;
        const float normal = (values[i] - middle_of<kind>(mean, r)) * inverse[r];
        gamma_sum += gradients[i] * normal;
        beta_sum += gradients[i];
        const float d =
            (gradients[i] * factor - level - normal * shared.slopes[group][thread]) * inverse[r];
        const std::size_t at = place(first + row + i, column);
        d_x[at] = previous[i] + d;
        write_copy(copy, at, previous[i] + d);
      }
    }
    d_gamma[to] = gamma_sum;
    if constexpr (kind == NormKind::layer) d_beta[to] = beta_sum;
  }

  [[nodiscard]] DTS_BLOCK_CODE std::size_t place(int row, int column) const {
    return row_begin(static_cast<std::size_t>(row), width) + static_cast<std::size_t>(column);
  }
};

}  // namespace dts::train::accelerator
