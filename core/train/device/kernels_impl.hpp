// SPDX-License-Identifier: Apache-2.0
// The implementation of the vector kernels, included once per instruction set by a file that is
// compiled for it and has defined DTS_ISA, the name of its namespace and table.
//
// Only built-ins are used: if an inline function of the standard library were compiled for AVX-512,
// the linker might use that copy for the whole program.
#include "core/train/device/image_kernels_impl.hpp"
#include "core/train/device/kernel_table.hpp"
#include "core/train/device/optimizer_kernels_impl.hpp"
#include "core/train/device/token_kernels_impl.hpp"
#include "core/train/device/vectors.hpp"

namespace dts::train::DTS_ISA {
namespace {

// The four inputs of one pooled pixel, and the largest normalised value.
struct Window {
  Vec x[4];
  Vec y[4];
  Vec top;
};

DTS_INLINE void load_window(Window& w, const float* x, std::size_t row, const Affine& a) {
  const float* const at[4] = {x, x + k_lanes, x + row, x + row + k_lanes};
  for (int i = 0; i < 4; ++i) {
    load(w.x[i], at[i]);
    w.y[i] = w.x[i] * a.scale + a.shift;
  }
  const Vec upper = w.y[0] > w.y[1] ? w.y[0] : w.y[1];
  const Vec lower = w.y[2] > w.y[3] ? w.y[2] : w.y[3];
  w.top = upper > lower ? upper : lower;
}

struct GradientSums {
  Vec gradient;  // sum of g
  Vec product;   // sum of g * normalised x
};

// Sums over one pair of rows of x (one row of the pooled image).
DTS_INLINE void sum_row(
    GradientSums& sums, const float* x, const float* d_out, int width, const Affine& a) {
  const Vec zero = {};
  sums.gradient = zero;
  sums.product = zero;
  for (int column = 0; column < width / 2; ++column) {
    Window w;
    load_window(w,
                x + static_cast<std::size_t>(column) * 2 * k_lanes,
                static_cast<std::size_t>(width) * k_lanes,
                a);
    Vec g;
    load(g, d_out + static_cast<std::size_t>(column) * k_lanes);
    g = w.top > zero ? g : zero;
    Vec chosen = w.x[3];
    for (int i = 2; i >= 0; --i) chosen = w.y[i] == w.top ? w.x[i] : chosen;
    sums.gradient += g;
    sums.product += g * ((chosen - a.mean) * a.inverse);
  }
}

// d_x = scale * g at the chosen pixel, plus constant + slope * x everywhere (the gradient through
// the statistics).
DTS_INLINE void spread_row(float* d_x,
                           const float* x,
                           const float* d_out,
                           int width,
                           const Affine& a,
                           const StatisticsGradient& through) {
  const Vec zero = {};
  const std::size_t row = static_cast<std::size_t>(width) * k_lanes;
  for (int column = 0; column < width / 2; ++column) {
    const std::size_t at = static_cast<std::size_t>(column) * 2 * k_lanes;
    Window w;
    load_window(w, x + at, row, a);
    Vec g;
    load(g, d_out + static_cast<std::size_t>(column) * k_lanes);
    g = w.top > zero ? g * a.scale : zero;
    const std::size_t to[4] = {at, at + k_lanes, at + row, at + row + k_lanes};
    for (int i = 0; i < 4; ++i) {
      const Mask hit = w.y[i] == w.top;
      store(d_x + to[i], (hit ? g : zero) + (through.constant + through.slope * w.x[i]));
      g = hit ? zero : g;
    }
  }
}

void add(float* sums, const float* left, const float* right, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) sums[i] = left[i] + right[i];
}

void sgd(const Parameters& next, const CurrentParameters& now, const Gradients& by) {
  for (std::size_t i = 0; i < by.count; ++i) {
    const float momentum = by.beta * now.momentum[i] + by.values[i];
    next.momentum[i] = momentum;
    next.weights[i] = now.weights[i] - by.lr * momentum;
  }
}

std::uint64_t checksum(const float* values, std::size_t count) {
  constexpr std::size_t k_chains = 8;  // hides the latency of the multiplication
  constexpr std::uint32_t k_factor = 0x9E3779B1U;
  constexpr std::uint64_t k_last_factor = 0x9E3779B185EBCA87ULL;
  Words chains[k_chains] = {};
  std::size_t i = 0;
  for (; i + k_chains * k_lanes <= count; i += k_chains * k_lanes)
    for (std::size_t c = 0; c < k_chains; ++c) {
      Words words;
      __builtin_memcpy(&words, values + i + c * k_lanes, sizeof words);
      chains[c] = chains[c] * k_factor + words;
    }
  for (; i < count; i += k_lanes) {
    Words words;
    __builtin_memcpy(&words, values + i, sizeof words);
    chains[0] = chains[0] * k_factor + words;
  }
  Words all = {};
  for (const Words& chain : chains) all = all * k_factor + chain;
  std::uint64_t hash = count;
  for (unsigned lane = 0; lane < k_lanes; ++lane)
    hash += all[lane] * (k_last_factor * (2 * lane + 1));  // an odd factor for each lane
  return hash;
}

double sum_squares(const float* values, std::size_t count) {
  constexpr std::size_t k_chains = 4;
  Wide chains[k_chains] = {};
  for (std::size_t i = 0; i < count; i += k_lanes) {
    Vec v;
    load(v, values + i);
    const Wide wide = __builtin_convertvector(v, Wide);
    chains[i / k_lanes % k_chains] += wide * wide;  // exact, so that fusing makes no difference
  }
  const Wide sums = (chains[0] + chains[1]) + (chains[2] + chains[3]);
  double sum = 0;
  for (int lane = 0; lane < k_lanes; ++lane) sum += sums[lane];
  return sum;
}

void conv3x3_first_forward(const Images& shape,
                           const float* padded,
                           const float* weights,
                           float* out) {
  Vec tap[9];
  for (int k = 0; k < 9; ++k)
    for (int c = 0; c < k_lanes; ++c) tap[k][c] = weights[c * 9 + k];
  const int pitch = shape.width + 2;
  for (int row = 0; row < shape.batch * shape.height; ++row) {
    const int n = row / shape.height;
    const float* in =
        padded + static_cast<std::size_t>(row + 2 * n) * static_cast<std::size_t>(pitch);
    for (int x = 0; x < shape.width; ++x, ++in, out += k_lanes) {
      Vec sum = tap[0] * in[0] + tap[1] * in[1] + tap[2] * in[2];
      sum += tap[3] * in[pitch] + tap[4] * in[pitch + 1] + tap[5] * in[pitch + 2];
      sum += tap[6] * in[2 * pitch] + tap[7] * in[2 * pitch + 1] + tap[8] * in[2 * pitch + 2];
      store(out, sum);
    }
  }
}

void conv3x3_first_backward(const Images& shape,
                            const float* padded,
                            const float* d_out,
                            float* d_weights) {
  Vec total[9] = {};
  const int pitch = shape.width + 2;
  for (int row = 0; row < shape.batch * shape.height; ++row) {
    const int n = row / shape.height;
    const float* in =
        padded + static_cast<std::size_t>(row + 2 * n) * static_cast<std::size_t>(pitch);
    Vec sum[9] = {};  // of this row only: adding up sums of rows is more precise
    for (int x = 0; x < shape.width; ++x, ++in, d_out += k_lanes) {
      Vec d;
      load(d, d_out);
      for (int k = 0; k < 9; ++k) sum[k] += d * in[(k / 3) * pitch + k % 3];
    }
    for (int k = 0; k < 9; ++k) total[k] += sum[k];
  }
  for (int k = 0; k < 9; ++k)
    for (int c = 0; c < k_lanes; ++c) d_weights[c * 9 + k] = total[k][c];
}

void channel_statistics(const Images& shape, const float* x, float* mean, float* variance) {
  const double count = static_cast<double>(shape.batch) * shape.height * shape.width;
  for (int block = 0; block < shape.channels / k_lanes; ++block) {
    Wide sum = {};
    Wide squares = {};
    for (int n = 0; n < shape.batch; ++n) {
      const float* at = x + offset(shape, n, block);
      for (int row = 0; row < shape.height; ++row) {
        Vec row_sum = {};
        Vec row_squares = {};
        for (int column = 0; column < shape.width; ++column, at += k_lanes) {
          Vec v;
          load(v, at);
          row_sum += v;
          row_squares += v * v;
        }
        widen_add(sum, row_sum);
        widen_add(squares, row_squares);
      }
    }
    for (int lane = 0; lane < k_lanes; ++lane) {
      const double m = sum[lane] / count;
      const double v = squares[lane] / count - m * m;
      mean[block * k_lanes + lane] = static_cast<float>(m);
      variance[block * k_lanes + lane] = static_cast<float>(v > 0 ? v : 0);
    }
  }
}

void bn_relu_pool_forward(const Images& shape, const float* x, const BatchNorm& bn, float* out) {
  const Vec zero = {};
  const std::size_t row = static_cast<std::size_t>(shape.width) * k_lanes;
  const int blocks = shape.channels / k_lanes;
  for (int block = 0; block < blocks; ++block) {
    Affine a;
    load_affine(a, bn, block * k_lanes);
    for (int n = 0; n < shape.batch; ++n) {
      const float* in = x + offset(shape, n, block);
      float* to = out + offset(shape, n, block) / 4;
      for (int y = 0; y < shape.height / 2; ++y, in += 2 * row)
        for (int column = 0; column < shape.width / 2; ++column, to += k_lanes) {
          Window w;
          load_window(w, in + static_cast<std::size_t>(column) * 2 * k_lanes, row, a);
          store(to, w.top > zero ? w.top : zero);
        }
    }
  }
}

void bn_relu_pool_backward(const Images& shape,
                           const float* x,
                           const BatchNorm& bn,
                           const float* d_out,
                           float* d_x,
                           float* d_gamma,
                           float* d_beta) {
  const std::size_t rows =
      static_cast<std::size_t>(shape.width) * 2 * k_lanes;  // a pair of rows of x
  const double count = static_cast<double>(shape.batch) * shape.height * shape.width;
  for (int block = 0; block < shape.channels / k_lanes; ++block) {
    Affine a;
    load_affine(a, bn, block * k_lanes);
    ChannelSums sums;
    for (int n = 0; n < shape.batch; ++n) {
      const std::size_t at = offset(shape, n, block);
      for (std::size_t y = 0; y < static_cast<std::size_t>(shape.height / 2); ++y) {
        GradientSums row;
        sum_row(row, x + at + y * rows, d_out + (at + y * rows) / 4, shape.width, a);
        widen_add(sums.gradient, row.gradient);
        widen_add(sums.product, row.product);
      }
    }
    StatisticsGradient statistics;
    through_statistics(
        statistics, a, sums, count, d_gamma + block * k_lanes, d_beta + block * k_lanes);
    for (int n = 0; n < shape.batch; ++n) {
      const std::size_t at = offset(shape, n, block);
      for (std::size_t y = 0; y < static_cast<std::size_t>(shape.height / 2); ++y)
        spread_row(d_x + at + y * rows,
                   x + at + y * rows,
                   d_out + (at + y * rows) / 4,
                   shape.width,
                   a,
                   statistics);
    }
  }
}

void relu_backward(const float* y, float* d, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) d[i] = y[i] > 0 ? d[i] : 0.0F;
}

void sum_rows(const float* matrix, int rows, int columns, float* sums) {
  for (int c = 0; c < columns; ++c) sums[c] = 0;
  for (int row = 0; row < rows; ++row, matrix += columns)
    for (int c = 0; c < columns; ++c) sums[c] += matrix[c];
}

void round_to_bf16(const float* from, std::size_t count, Bf16* to) {
  constexpr std::uint32_t k_infinity = 0x7F800000U;
  constexpr std::uint32_t k_quiet = 0x00400000U;
  for (std::size_t i = 0; i < count; ++i) {
    std::uint32_t bits;
    __builtin_memcpy(&bits, from + i, sizeof bits);
    const bool is_nan = (bits & 0x7FFFFFFFU) > k_infinity;
    const std::uint32_t rounded = bits + 0x7FFFU + (bits >> 16 & 1U);
    to[i] = static_cast<Bf16>((is_nan ? bits | k_quiet : rounded) >> 16);
  }
}

void normalise_image(
    const std::uint8_t* pixels, const ImageSize& size, float mean, float deviation, float* out) {
  const float scale = 1.0F / (255.0F * deviation);
  const float shift = -mean / deviation;
  const auto pitch = static_cast<std::size_t>(size.width + 2 * size.padding);
  out += static_cast<std::size_t>(size.padding) * (pitch + 1);
  for (int y = 0; y < size.height; ++y, out += pitch)
    for (int x = 0; x < size.width; ++x) out[x] = static_cast<float>(*pixels++) * scale + shift;
}

}  // namespace

const KernelTable& table() {
  static const KernelTable all{add,
                               sgd,
                               checksum,
                               sum_squares,
                               conv3x3_first_forward,
                               conv3x3_first_backward,
                               channel_statistics,
                               bn_relu_pool_forward,
                               bn_relu_pool_backward,
                               relu_backward,
                               sum_rows,
                               round_to_bf16,
                               normalise_image,
                               k_image_kernels,
                               k_optimizer_kernels,
                               k_token_kernels};
  return all;
}

}  // namespace dts::train::DTS_ISA
