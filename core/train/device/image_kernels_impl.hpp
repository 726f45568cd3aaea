// SPDX-License-Identifier: Apache-2.0
// The implementation of image_kernels.hpp, and the shared parts of batch normalisation; vectors.hpp
// explains how these files are included.
#pragma once

#include "core/train/device/image_kernels.hpp"
#include "core/train/device/vectors.hpp"

namespace dts::train::DTS_ISA {
namespace {

// x * scale + shift is the normalised value, after gamma and beta.
struct Affine {
  Vec scale, shift, mean, inverse;
};

DTS_INLINE void load_affine(Affine& a, const BatchNorm& bn, int channel) {
  for (int lane = 0; lane < k_lanes; ++lane) {
    const int c = channel + lane;
    a.mean[lane] = bn.mean[c];
    a.inverse[lane] = 1.0F / __builtin_sqrtf(bn.variance[c] + k_bn_epsilon);
    a.scale[lane] = bn.gamma[c] * a.inverse[lane];
    a.shift[lane] = bn.beta[c] - bn.mean[c] * a.scale[lane];
  }
}

DTS_INLINE std::size_t plane(const Images& s) {
  return static_cast<std::size_t>(s.height) * static_cast<std::size_t>(s.width) * k_lanes;
}

// The start of the block of channels [16 * block, ...) of image n.
DTS_INLINE std::size_t offset(const Images& s, int n, int block) {
  return static_cast<std::size_t>(n * (s.channels / k_lanes) + block) * plane(s);
}

// The sums of a block of channels.
struct ChannelSums {
  Wide gradient = {};  // sum of g
  Wide product = {};   // sum of g * normalised x
};

// The gradient through the statistics is constant + slope * x everywhere.
struct StatisticsGradient {
  Vec constant, slope;
};

DTS_INLINE void through_statistics(StatisticsGradient& to,
                                   const Affine& a,
                                   const ChannelSums& sums,
                                   double count,
                                   float* d_gamma,
                                   float* d_beta) {
  for (int lane = 0; lane < k_lanes; ++lane) {
    d_beta[lane] = static_cast<float>(sums.gradient[lane]);
    d_gamma[lane] = static_cast<float>(sums.product[lane]);
    const double scale = static_cast<double>(a.scale[lane]) / count;
    const double per_x = -scale * sums.product[lane] * static_cast<double>(a.inverse[lane]);
    to.slope[lane] = static_cast<float>(per_x);
    to.constant[lane] = static_cast<float>(-scale * sums.gradient[lane] -
                                           per_x * static_cast<double>(a.mean[lane]));
  }
}

void bn_relu_forward(
    const Images& shape, const float* x, const BatchNorm& bn, const float* residual, float* out) {
  const Vec zero = {};
  for (int block = 0; block < shape.channels / k_lanes; ++block) {
    Affine a;
    load_affine(a, bn, block * k_lanes);
    for (int n = 0; n < shape.batch; ++n) {
      const std::size_t begin = offset(shape, n, block);
      for (std::size_t at = begin; at < begin + plane(shape); at += k_lanes) {
        Vec v;
        load(v, x + at);
        v = v * a.scale + a.shift;
        if (residual != nullptr) {
          Vec r;
          load(r, residual + at);
          v += r;
        }
        store(out + at, v > zero ? v : zero);
      }
    }
  }
}

// Sets d_y of a row to zero where the ReLU was closed, and adds to the sums.
DTS_INLINE void gate_row(
    ChannelSums& sums, const float* x, const float* y, float* d_y, int width, const Affine& a) {
  const Vec zero = {};
  Vec gradient = {};
  Vec product = {};
  for (int column = 0; column < width; ++column) {
    const std::size_t at = static_cast<std::size_t>(column) * k_lanes;
    Vec v;
    Vec top;
    Vec g;
    load(v, x + at);
    load(top, y + at);
    load(g, d_y + at);
    g = top > zero ? g : zero;
    store(d_y + at, g);
    gradient += g;
    product += g * ((v - a.mean) * a.inverse);
  }
  widen_add(sums.gradient, gradient);
  widen_add(sums.product, product);
}

DTS_INLINE void spread_plane(const BnReluBackward& pass,
                             std::size_t begin,
                             const Affine& a,
                             const StatisticsGradient& statistics) {
  for (std::size_t at = begin; at < begin + plane(pass.shape); at += k_lanes) {
    Vec v;
    Vec g;
    load(v, pass.x + at);
    load(g, pass.d_y + at);
    store(pass.d_x + at, g * a.scale + (statistics.constant + statistics.slope * v));
  }
}

void bn_relu_backward(const BnReluBackward& pass) {
  const Images& shape = pass.shape;
  const double count = static_cast<double>(shape.batch) * shape.height * shape.width;
  const std::size_t row = static_cast<std::size_t>(shape.width) * k_lanes;
  for (int block = 0; block < shape.channels / k_lanes; ++block) {
    Affine a;
    load_affine(a, pass.bn, block * k_lanes);
    ChannelSums sums;
    for (int n = 0; n < shape.batch; ++n) {
      std::size_t at = offset(shape, n, block);
      for (int y = 0; y < shape.height; ++y, at += row)
        gate_row(sums, pass.x + at, pass.y + at, pass.d_y + at, shape.width, a);
    }
    StatisticsGradient statistics;
    through_statistics(
        statistics, a, sums, count, pass.d_gamma + block * k_lanes, pass.d_beta + block * k_lanes);
    for (int n = 0; n < shape.batch; ++n)
      spread_plane(pass, offset(shape, n, block), a, statistics);
  }
}

void average_pool_forward(const Images& shape, const float* x, float* out) {
  const double count = static_cast<double>(shape.height) * shape.width;
  for (int i = 0; i < shape.batch * (shape.channels / k_lanes); ++i, out += k_lanes) {
    Wide sum = {};
    for (int row = 0; row < shape.height; ++row) {
      Vec row_sum = {};
      for (int column = 0; column < shape.width; ++column, x += k_lanes) {
        Vec v;
        load(v, x);
        row_sum += v;
      }
      widen_add(sum, row_sum);
    }
    for (int lane = 0; lane < k_lanes; ++lane) out[lane] = static_cast<float>(sum[lane] / count);
  }
}

void average_pool_backward(const Images& shape, const float* d_out, float* d_x) {
  const float share = 1.0F / (static_cast<float>(shape.height) * static_cast<float>(shape.width));
  for (int i = 0; i < shape.batch * (shape.channels / k_lanes); ++i, d_out += k_lanes) {
    Vec g;
    load(g, d_out);
    g = g * share;
    for (int pixel = 0; pixel < shape.height * shape.width; ++pixel, d_x += k_lanes) store(d_x, g);
  }
}

constexpr ImageKernels k_image_kernels{
    bn_relu_forward, bn_relu_backward, average_pool_forward, average_pool_backward};

}  // namespace
}  // namespace dts::train::DTS_ISA
