// SPDX-License-Identifier: Apache-2.0
// The gradient noise scale: about the batch size above which larger batches hardly save steps (S.
// McCandlish et al., "An Empirical Model of Large-Batch Training", 2018, section 2.2). It is
// estimated as in its appendix A.1 from gradients over batches of two sizes: a shard and a whole
// step. Pure.
#pragma once

#include <optional>

namespace dts::train {

struct GradientSquares {
  double batch = 0;      // samples per step
  double shards = 0;     // shards per step
  double of_step = 0;    // |gradient|^2
  double of_shards = 0;  // sum of |gradient|^2 of each shard's part of the loss, whose sum the
                         // step's loss is
};

struct Noise {
  double signal = 0;    // |G|^2 of the true gradient; unbiased, so it may be negative
  double variance = 0;  // trace of the covariance of one sample's gradient
};

// nullopt if there is only one shard.
[[nodiscard]] std::optional<Noise> estimate_noise(const GradientSquares& squares);

// A single estimate says little, and so does a mean of ratios; therefore the two parts are averaged
// separately, over about the last ten estimates.
class NoiseScale {
 public:
  void add(const Noise& noise);

  // In samples. nullopt before add(), and while the mean of |G|^2 is not positive.
  [[nodiscard]] std::optional<double> value() const;

 private:
  Noise mean_;
  double weight_ = 0;
};

}  // namespace dts::train
