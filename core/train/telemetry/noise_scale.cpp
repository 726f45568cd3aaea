// SPDX-License-Identifier: Apache-2.0
#include "core/train/telemetry/noise_scale.hpp"

#include <cmath>

namespace dts::train {

std::optional<Noise> estimate_noise(const GradientSquares& s) {
  if (s.shards < 2) return std::nullopt;
  const double big = s.batch;
  const double small = s.batch / s.shards;
  // The loss of a shard is 1/shards of the mean loss of its samples.
  const double of_small = s.shards * s.of_shards;
  return Noise{(big * s.of_step - small * of_small) / (big - small),
               (of_small - s.of_step) / (1 / small - 1 / big)};
}

void NoiseScale::add(const Noise& noise) {
  constexpr double k_kept = 0.9;
  if (!std::isfinite(noise.signal + noise.variance)) return;  // large squares overflow
  mean_.signal = k_kept * mean_.signal + (1 - k_kept) * noise.signal;
  mean_.variance = k_kept * mean_.variance + (1 - k_kept) * noise.variance;
  weight_ = k_kept * weight_ + (1 - k_kept);
}

std::optional<double> NoiseScale::value() const {
  if (weight_ == 0 || mean_.signal <= 0) return std::nullopt;
  return mean_.variance / mean_.signal;
}

}  // namespace dts::train
