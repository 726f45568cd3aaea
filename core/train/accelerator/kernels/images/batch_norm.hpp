// SPDX-License-Identifier: Apache-2.0
// Kernels of batch normalisation followed by an optional residual and ReLU. Images are floats, or
// rounded to bf16.
#pragma once

#include "core/train/accelerator/kernels/images/channels.hpp"
#include "core/train/accelerator/kernels/rounding.hpp"

#include <cmath>
#include <initializer_list>

namespace dts::train::accelerator {

inline constexpr float k_batch_norm_epsilon = 1e-5F;  // device/kernels.hpp

// All arrays are [channels].
struct ChannelNorm {
  const float* gamma = nullptr;
  const float* beta = nullptr;
  const float* mean = nullptr;
  const float* variance = nullptr;

  template <class Visit>
  void accesses(const Visit& visit, int channels) const {
    for (const float* const one : {gamma, beta, mean, variance})
      accelerator::reads(visit, one, static_cast<std::size_t>(channels));
  }
};

// The factors of one channel.
struct ChannelScale {
  float mean = 0;
  float inverse = 0;
  float scale = 0;
  float shift = 0;

  DTS_BLOCK_CODE ChannelScale(const ChannelNorm& norm, int channel)
      : mean(norm.mean[channel]),
        inverse(1.0F / sqrtf(norm.variance[channel] + k_batch_norm_epsilon)),
        scale(norm.gamma[channel] * inverse),
        shift(norm.beta[channel] - mean * scale) {}

  [[nodiscard]] DTS_BLOCK_CODE float normal(float x) const { return (x - mean) * inverse; }

  // fmaf, so that the bits are the same everywhere.
  [[nodiscard]] DTS_BLOCK_CODE float operator()(float x) const { return fmaf(x, scale, shift); }
};

// Zero for negative values; a NaN is kept.
[[nodiscard]] DTS_BLOCK_CODE inline float relu(float x) {
  return x < 0 ? 0.0F : x;
}

// The sums of x and of its squares.
template <class Value>
struct ChannelMoments : ChannelPartials {
  const Value* x = nullptr;

  template <class Visit>
  void accesses(const Visit& visit) const {
    accelerator::reads(visit, x, area());
    writes_partials(visit);
  }

  template <class Block>
  DTS_BLOCK_CODE void run(const Block& block, Shared& shared) const {
    add_up(block, shared, [&](int thread) {
      TwoSums sums;
      const auto read = [&](int row) { return value_of(x[place(row, channel(block, thread))]); };
      for_each_row(block, thread, read, [&](int, float value) {
        sums.first += value;
        sums.second += value * value;
      });
      return sums;
    });
  }
};

// Mean and biased variance of each channel.
struct ChannelStatistics : ChannelTotals {
  int rows = 0;
  float* mean = nullptr;
  float* variance = nullptr;

  template <class Visit>
  void accesses(const Visit& visit) const {
    reads_partials(visit);
    accelerator::writes(visit, mean, blocks());
    accelerator::writes(visit, variance, blocks());
  }

  template <class Block>
  DTS_BLOCK_CODE void run(const Block& block, Shared& shared) const {
    add_up(block, shared, [&](double sum, double squares) {
      const double middle = sum / rows;
      const double biased = squares / rows - middle * middle;
      mean[block.index()] = static_cast<float>(middle);
      variance[block.index()] = static_cast<float>(biased > 0 ? biased : 0);
    });
  }
};

// The gradients of beta and gamma, from the sums of a gradient and of its products with normalised
// x.
struct ChannelGradients : ChannelTotals {
  float* d_gamma = nullptr;
  float* d_beta = nullptr;

  template <class Visit>
  void accesses(const Visit& visit) const {
    reads_partials(visit);
    accelerator::writes(visit, d_gamma, blocks());
    accelerator::writes(visit, d_beta, blocks());
  }

  template <class Block>
  DTS_BLOCK_CODE void run(const Block& block, Shared& shared) const {
    add_up(block, shared, [&](double sum, double product) {
      d_beta[block.index()] = static_cast<float>(sum);
      d_gamma[block.index()] = static_cast<float>(product);
    });
  }
};

// The gradient of x, including that through the batch statistics, from the gradient of the scaled
// x.
struct InputGradient {
  float level = 0;
  float slope = 0;
  float scale = 0;

  DTS_BLOCK_CODE InputGradient(
      const ChannelScale& s, const float* d_gamma, const float* d_beta, int channel, int count)
      : level(d_beta[channel] / static_cast<float>(count)),
        slope(d_gamma[channel] / static_cast<float>(count)),
        scale(s.scale) {}

  [[nodiscard]] DTS_BLOCK_CODE float operator()(float gradient, float normal) const {
    return scale * (gradient - level - normal * slope);
  }
};

// y = relu(batch norm(x) + residual); residual may be nullptr.
template <class Value>
struct BatchNormRelu : Channelwise {
  struct Shared {};

  struct Inputs {
    float x = 0;
    float residual = 0;
  };

  ChannelNorm norm;
  const Value* x = nullptr;
  const Value* residual = nullptr;
  Value* y = nullptr;

  template <class Visit>
  void accesses(const Visit& visit) const {
    norm.accesses(visit, channels);
    accelerator::reads(visit, x, area());
    accelerator::reads(visit, residual, area());
    accelerator::writes(visit, y, area());
  }

  template <class Block>
  DTS_BLOCK_CODE void run(const Block& block, Shared& /*shared*/) const {
    block.each([&](int thread) {
      const ChannelScale scale(norm, channel(block, thread));
      const auto write = [&](int row, const Inputs& inputs) {
        store(y[place(row, channel(block, thread))], relu(scale(inputs.x) + inputs.residual));
      };
      const auto at = [&](int row) { return place(row, channel(block, thread)); };
      if (residual == nullptr)
        for_each_row(
            block, thread, [&](int row) { return Inputs{value_of(x[at(row)])}; }, write);
      else
        for_each_row(
            block,
            thread,
            [&](int row) {
              return Inputs{value_of(x[at(row)]), value_of(residual[at(row)])};
            },
            write);
    });
  }
};

// Turns d_y into the gradient before the ReLU, and computes its sums and those of its products with
// normalised x.
template <class Value>
struct BatchNormReluGradients : ChannelPartials {
  struct Inputs {
    float x = 0;
    float gradient = 0;
  };

  ChannelNorm norm;
  const Value* x = nullptr;
  const Value* y = nullptr;
  Value* d_y = nullptr;

  template <class Visit>
  void accesses(const Visit& visit) const {
    norm.accesses(visit, channels);
    accelerator::reads(visit, x, area());
    accelerator::reads(visit, y, area());
    accelerator::writes(visit, d_y, area());
    writes_partials(visit);
  }

  template <class Block>
  DTS_BLOCK_CODE void run(const Block& block, Shared& shared) const {
    add_up(block, shared, [&](int thread) {
      const ChannelScale scale(norm, channel(block, thread));
      TwoSums sums;
      const auto read = [&](int row) {
        const std::size_t at = place(row, channel(block, thread));
        const float gradient = value_of(d_y[at]);
        return Inputs{value_of(x[at]), value_of(y[at]) > 0 ? gradient : 0.0F};
      };
      for_each_row(block, thread, read, [&](int row, const Inputs& inputs) {
        store(d_y[place(row, channel(block, thread))], inputs.gradient);
        sums.first += inputs.gradient;
        sums.second += inputs.gradient * scale.normal(inputs.x);
      });
      return sums;
    });
  }
};

// The gradient of x.
template <class Value>
struct BatchNormBackward : Channelwise {
  struct Shared {};

  struct Inputs {
    float x = 0;
    float gradient = 0;
  };

  ChannelNorm norm;
  const float* d_gamma = nullptr;
  const float* d_beta = nullptr;
  const Value* x = nullptr;
  const Value* d_y = nullptr;  // before the ReLU
  Value* d_x = nullptr;

  template <class Visit>
  void accesses(const Visit& visit) const {
    norm.accesses(visit, channels);
    accelerator::reads(visit, d_gamma, static_cast<std::size_t>(channels));
    accelerator::reads(visit, d_beta, static_cast<std::size_t>(channels));
    accelerator::reads(visit, x, area());
    accelerator::reads(visit, d_y, area());
    accelerator::writes(visit, d_x, area());
  }

  template <class Block>
  DTS_BLOCK_CODE void run(const Block& block, Shared& /*shared*/) const {
    block.each([&](int thread) {
      const ChannelScale scale(norm, channel(block, thread));
      const InputGradient input_gradient(scale, d_gamma, d_beta, channel(block, thread), rows);
      const auto read = [&](int row) {
        const std::size_t at = place(row, channel(block, thread));
        return Inputs{value_of(x[at]), value_of(d_y[at])};
      };
      for_each_row(block, thread, read, [&](int row, const Inputs& inputs) {
        store(d_x[place(row, channel(block, thread))],
              input_gradient(inputs.gradient, scale.normal(inputs.x)));
      });
    });
  }
};

}  // namespace dts::train::accelerator
