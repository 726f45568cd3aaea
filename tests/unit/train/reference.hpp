// SPDX-License-Identifier: Apache-2.0
// Slow double-precision versions of the blocks' forward passes, from their textbook formulas.
#pragma once

#include "core/train/data/sampler.hpp"
#include "core/train/device/kernels.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <vector>

namespace reference {

using Values = std::vector<double>;

// `count` values in (-1, 1), different for each `salt`.
inline Values random_values(std::size_t count, std::uint64_t salt) {
  Values values(count);
  for (std::size_t i = 0; i < count; ++i)
    values[i] = static_cast<double>(dts::mix(salt * 1000003 + i) >> 11) * 0x1.0p-52 - 1;
  return values;
}

// The index of a pixel in blocked images.
inline std::size_t at(const dts::train::Images& s, int n, int c, int y, int x) {
  const int blocks = s.channels / 16;
  return static_cast<std::size_t>((((n * blocks + c / 16) * s.height + y) * s.width + x) * 16 +
                                  c % 16);
}

// 3x3, padding 1; the stride follows from the two shapes. in(n, c, y, x) is only called inside the
// image.
template <class In>
Values convolution(const dts::train::Images& in_shape,
                   const dts::train::Images& out_shape,
                   const In& in,
                   const Values& weights) {
  Values out(out_shape.count());
  const int stride = (in_shape.height + out_shape.height - 1) / out_shape.height;
  for (int n = 0; n < out_shape.batch; ++n)
    for (int o = 0; o < out_shape.channels; ++o)
      for (int y = 0; y < out_shape.height; ++y)
        for (int x = 0; x < out_shape.width; ++x) {
          double sum = 0;
          for (int c = 0; c < in_shape.channels; ++c)
            for (int k = 0; k < 9; ++k) {
              const int iy = y * stride + k / 3 - 1;
              const int ix = x * stride + k % 3 - 1;
              if (iy < 0 || ix < 0 || iy >= in_shape.height || ix >= in_shape.width) continue;
              sum += weights[static_cast<std::size_t>((o * in_shape.channels + c) * 9 + k)] *
                     in(n, c, iy, ix);
            }
          out[at(out_shape, n, o, y, x)] = sum;
        }
  return out;
}

// Batch normalisation with the statistics of this batch.
inline Values batch_norm(const dts::train::Images& s,
                         const Values& x,
                         const Values& gamma,
                         const Values& beta) {
  Values out(s.count());
  const double count = static_cast<double>(s.batch) * s.height * s.width;
  for (int c = 0; c < s.channels; ++c) {
    double mean = 0;
    double variance = 0;
    const auto each = [&](auto visit) {
      for (int n = 0; n < s.batch; ++n)
        for (int y = 0; y < s.height; ++y)
          for (int col = 0; col < s.width; ++col) visit(at(s, n, c, y, col));
    };
    each([&](std::size_t i) { mean += x[i] / count; });
    each([&](std::size_t i) { variance += (x[i] - mean) * (x[i] - mean) / count; });
    const auto channel = static_cast<std::size_t>(c);
    const double scale = gamma[channel] / std::sqrt(variance + 1e-5);
    each([&](std::size_t i) { out[i] = scale * (x[i] - mean) + beta[channel]; });
  }
  return out;
}

inline Values bn_relu_pool(const dts::train::Images& s,
                           const Values& x,
                           const Values& gamma,
                           const Values& beta) {
  const dts::train::Images half{s.batch, s.channels, s.height / 2, s.width / 2};
  const Values normal = batch_norm(s, x, gamma, beta);
  Values out(half.count());
  for (int n = 0; n < s.batch; ++n)
    for (int c = 0; c < s.channels; ++c)
      for (int y = 0; y < s.height; ++y)
        for (int col = 0; col < s.width; ++col) {
          double& to = out[at(half, n, c, y / 2, col / 2)];
          to = std::max(to, normal[at(s, n, c, y, col)]);
        }
  return out;
}

inline Values linear(
    int batch, int in, int out, const Values& x, const Values& w, const Values& b, bool relu) {
  Values y(static_cast<std::size_t>(batch * out));
  for (int n = 0; n < batch; ++n)
    for (int o = 0; o < out; ++o) {
      double sum = b[static_cast<std::size_t>(o)];
      for (int i = 0; i < in; ++i)
        sum += x[static_cast<std::size_t>(n * in + i)] * w[static_cast<std::size_t>(o * in + i)];
      y[static_cast<std::size_t>(n * out + o)] = relu ? std::max(sum, 0.0) : sum;
    }
  return y;
}

inline double cross_entropy(const Values& logits,
                            const std::vector<std::uint32_t>& labels,
                            int classes) {
  double loss = 0;
  for (std::size_t n = 0; n < labels.size(); ++n) {
    double sum = 0;
    for (int c = 0; c < classes; ++c)
      sum += std::exp(logits[n * static_cast<std::size_t>(classes) + static_cast<std::size_t>(c)]);
    loss += std::log(sum) - logits[n * static_cast<std::size_t>(classes) + labels[n]];
  }
  return loss;
}

// d f / d x[i] by the fourth-order central difference (f(x-2h) - 8 f(x-h) + 8 f(x+h) - f(x+2h)) /
// 12h.
constexpr double k_kinked = 1e-7;  // a small step: ReLU and maximum have kinks

inline double derivative(const std::function<double(const Values&)>& f,
                         Values x,
                         std::size_t i,
                         double h = k_kinked) {
  const double middle = x[i];
  const auto value = [&](double offset) {
    x[i] = middle + offset;
    return f(x);
  };
  return (value(-2 * h) - 8 * value(-h) + 8 * value(h) - value(2 * h)) / (12 * h);
}

inline double dot(const Values& a, const Values& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}

}  // namespace reference
