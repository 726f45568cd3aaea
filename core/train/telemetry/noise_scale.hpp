// SPDX-License-Identifier: Apache-2.0
// The gradient noise scale, about the batch from which on larger ones save few steps (S. McCandlish
// et al., "An Empirical Model of Large-Batch Training", 2018, section 2.2), estimated as in its
// appendix A.1 from gradients over two sizes of batch: a shard, and all of them. Pure.
#pragma once

#include <optional>

namespace dts::train {

struct GradientSquares {
  double batch = 0;      // samples of a step
  double shards = 0;     // that it is split into
  double of_step = 0;    // |gradient|^2
  double of_shards = 0;  // sum of |gradient|^2 of each shard's part of the loss, whose sum the
                         // step's loss is
};

struct Noise {
  double signal = 0;    // |G|^2 of the true gradient; unbiased, so it may be negative
  double variance = 0;  // trace of the covariance of one sample's gradient
};

// nullopt of a single shard.
[[nodiscard]] std::optional<Noise> estimate_noise(const GradientSquares& squares);

// Single estimates hardly tell anything, and neither does a mean of ratios: both parts are averaged
// over about the last ten.
class NoiseScale {
 public:
  void add(const Noise& noise);

  // In samples; nullopt before add(), and where the mean of |G|^2 is not positive.
  [[nodiscard]] std::optional<double> value() const;

 private:
  Noise mean_;
  double weight_ = 0;
};

}  // namespace dts::train
