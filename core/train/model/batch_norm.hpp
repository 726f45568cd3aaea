// SPDX-License-Identifier: Apache-2.0
// The places of a batch normalisation's tensors in the flat arrays. Thread-safe on disjoint passes.
#pragma once

#include "core/train/model/blocks.hpp"

#include <string>

namespace dts::train {

// A shard is normalised by its own statistics; their sums over shards update the running
// statistics.
class BatchNormTensors {
 public:
  BatchNormTensors(const Layout& layout, const std::string& name)
      : range_(layout.range(name + ".weight", name + ".bias")),
        gamma_(layout.parameter(name + ".weight").offset),
        beta_(layout.parameter(name + ".bias").offset),
        mean_(layout.statistic(name + ".running_mean").offset),
        variance_(layout.statistic(name + ".running_var").offset),
        statistics_(layout.parameter_floats) {}

  struct Statistics {
    float* mean = nullptr;
    float* variance = nullptr;
  };

  // The statistics of the shard's input; only when training.
  [[nodiscard]] Statistics statistics(const Pass& pass) const {
    float* const all = pass.sums + statistics_;
    return {all + mean_, all + variance_};
  }

  // Computes them on the processor. Does nothing when not training.
  void measure(const Pass& pass, const Images& shape, const float* x) const {
    if (!pass.training) return;
    const Statistics to = statistics(pass);
    channel_statistics(shape, x, to.mean, to.variance);
  }

  [[nodiscard]] BatchNorm parameters(const Pass& pass) const {
    const float* const statistics = pass.training ? pass.sums + statistics_ : pass.running;
    return {
        pass.weights + gamma_, pass.weights + beta_, statistics + mean_, statistics + variance_};
  }

  [[nodiscard]] float* d_gamma(const Pass& pass) const { return pass.sums + gamma_; }

  [[nodiscard]] float* d_beta(const Pass& pass) const { return pass.sums + beta_; }

  [[nodiscard]] Range range() const { return range_; }

 private:
  Range range_;
  std::size_t gamma_;
  std::size_t beta_;
  std::size_t mean_;
  std::size_t variance_;
  std::size_t statistics_;
};

}  // namespace dts::train
