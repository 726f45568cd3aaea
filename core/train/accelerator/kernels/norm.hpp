// SPDX-License-Identifier: Apache-2.0
// Kernels of layer normalisation and of RMS normalisation, which is the same about zero instead of
// the mean, without beta.
#pragma once

#include "core/train/accelerator/kernels/columns.hpp"
#include "core/train/accelerator/kernels/rounding.hpp"

#include <cmath>

namespace dts::train::accelerator {

enum class About { mean, zero };

// What the values of a row are taken about.
template <About about>
[[nodiscard]] DTS_BLOCK_CODE inline float middle_of(const float* mean, std::size_t row) {
  if constexpr (about == About::mean)
    return mean[row];
  else
    return 0;
}

// y = (x - mean) / sqrt(variance + epsilon) * gamma + beta, of each row; keeps mean and
// inverse = 1 / sqrt(variance + epsilon). About zero: y = x / sqrt(mean square + epsilon) * gamma;
// beta and mean are not used.
template <About about, class Out>
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
    if constexpr (about == About::mean) add_up(block, shared);
    const auto middle_of_row = [&](int thread) {
      return about == About::mean ? shared.sums[first_of(thread)] / columns : 0.0F;
    };
    each_row(block, [&](int thread, std::size_t, std::size_t begin) {
      const float middle = middle_of_row(thread);
      float sum = 0;
      each_column(thread, [&](int i) {
        const float off = x[begin + static_cast<std::size_t>(i)] - middle;
        sum += off * off;
      });
      shared.squares[thread] = sum;
    });
    fold_runs<k_lanes>(block, shared.squares, Sum());
    each_row(block, [&](int thread, std::size_t row, std::size_t begin) {
      const float middle = middle_of_row(thread);
      const float scale = 1.0F / sqrtf(shared.squares[first_of(thread)] / columns + epsilon);
      if (thread == first_of(thread) && about == About::mean) mean[row] = middle;
      if (thread == first_of(thread)) inverse[row] = scale;
      each_column(thread, [&](int i) {
        const std::size_t at = begin + static_cast<std::size_t>(i);
        const float normal = (x[at] - middle) * scale * gamma[i];
        put(y[at], about == About::mean ? normal + beta[i] : normal);
      });
    });
  }

 private:
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

// The gradient of x, which is added to d_x or overwrites it.
template <About about, class Given>
struct NormaliseBackward : Groupwise {
  struct Shared {
    float levels[k_threads];
    float slopes[k_threads];
  };

  const float* x = nullptr;
  const float* gamma = nullptr;
  const float* mean = nullptr;
  const float* inverse = nullptr;
  const Given* d_y = nullptr;
  float* d_x = nullptr;
  bool adds = false;
  Bfloat* copy = nullptr;  // of d_x, if set

  template <class Visit>
  void accesses(const Visit& visit) const {
    accelerator::writes(visit, copy, area());
    accelerator::reads(visit, x, area());
    accelerator::reads(visit, gamma, static_cast<std::size_t>(width));
    accelerator::reads(visit, mean, static_cast<std::size_t>(rows));
    accelerator::reads(visit, inverse, static_cast<std::size_t>(rows));
    accelerator::reads(visit, d_y, area());
    accelerator::writes(visit, d_x, area());
  }

  template <class Block>
  DTS_BLOCK_CODE void run(const Block& block, Shared& shared) const {
    const auto columns = static_cast<float>(width);
    each_row(block, [&](int thread, std::size_t row, std::size_t begin) {
      const float middle = middle_of<about>(mean, row);
      const float scale = inverse[row];
      float level = 0;
      float slope = 0;
      each_column(thread, [&](int i) {
        const std::size_t at = begin + static_cast<std::size_t>(i);
        const float d = value_of(d_y[at]) * gamma[i];
        level += d;
        slope += d * ((x[at] - middle) * scale);
      });
      shared.levels[thread] = level;
      shared.slopes[thread] = slope;
    });
    if constexpr (about == About::mean) fold_runs<k_lanes>(block, shared.levels, Sum());
    fold_runs<k_lanes>(block, shared.slopes, Sum());
    each_row(block, [&](int thread, std::size_t row, std::size_t begin) {
      const float middle = middle_of<about>(mean, row);
      const float scale = inverse[row];
      const float level = about == About::mean ? shared.levels[first_of(thread)] / columns : 0.0F;
      const float slope = shared.slopes[first_of(thread)] / columns;
      each_column(thread, [&](int i) {
        const std::size_t at = begin + static_cast<std::size_t>(i);
        const float normal = (x[at] - middle) * scale;
        const float d = (value_of(d_y[at]) * gamma[i] - level - normal * slope) * scale;
        const float sum = adds ? d_x[at] + d : d;
        d_x[at] = sum;
        write_copy(copy, at, sum);
      });
    });
  }
};

// The gradients of gamma and, about the mean, of beta, of each run of rows.
template <About about, class Given>
struct NormGradients : Columnwise {
  struct Shared {
    float gammas[k_threads];
    float betas[k_threads];
  };

  const float* x = nullptr;
  const float* mean = nullptr;
  const float* inverse = nullptr;
  const Given* d_y = nullptr;
  float* d_gamma = nullptr;
  float* d_beta = nullptr;

  template <class Visit>
  void accesses(const Visit& visit) const {
    const auto each = static_cast<std::size_t>(rows);
    const auto columns = static_cast<std::size_t>(width);
    accelerator::reads(visit, x, each * columns);
    accelerator::reads(visit, mean, each);
    accelerator::reads(visit, inverse, each);
    accelerator::reads(visit, d_y, each * columns);
    accelerator::writes(visit, d_gamma, sums_of_runs());
    accelerator::writes(visit, d_beta, sums_of_runs());
  }

  template <class Block>
  DTS_BLOCK_CODE void run(const Block& block, Shared& shared) const {
    block.each([&](int thread) {
      float of_gamma = 0;
      float of_beta = 0;
      for_each_row(block, thread, [&](int row, std::size_t at) {
        const auto r = static_cast<std::size_t>(row);
        const float d = value_of(d_y[at]);
        of_gamma += d * ((x[at] - middle_of<about>(mean, r)) * inverse[row]);
        of_beta += d;
      });
      shared.gammas[thread] = of_gamma;
      shared.betas[thread] = of_beta;
    });
    fold(block, shared.gammas, Sum(), k_columns);
    if constexpr (about == About::mean) fold(block, shared.betas, Sum(), k_columns);
    block.each([&](int thread) {
      if (!writes(block, thread)) return;
      d_gamma[place(block, thread)] = shared.gammas[thread];
      if constexpr (about == About::mean) d_beta[place(block, thread)] = shared.betas[thread];
    });
  }
};

}  // namespace dts::train::accelerator
