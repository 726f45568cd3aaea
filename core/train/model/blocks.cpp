// SPDX-License-Identifier: Apache-2.0
// The blocks built from our own kernels.
#include "core/train/model/blocks.hpp"

#include "core/train/device/elementary.hpp"

#include <algorithm>
#include <cmath>

namespace dts::train {
namespace {

class FirstConvolution : public Block {
 public:
  FirstConvolution(Range weight, const Images& shape, Edge in, Edge out)
      : range_(weight), weight_(weight.begin), shape_(shape), in_(in), out_(out) {}

  void forward(const Pass& pass) override {
    conv3x3_first_forward(shape_, in_.value, pass.weights + weight_, out_.value);
  }

  void backward(const Pass& pass) override {
    conv3x3_first_backward(shape_, in_.value, out_.gradient, pass.sums + weight_);
  }

  [[nodiscard]] Range completes() const override { return range_; }

 private:
  Range range_;
  std::size_t weight_;
  Images shape_;
  Edge in_;
  Edge out_;
};

class BnReluPool : public Block {
 public:
  BnReluPool(const Layout& layout, const std::string& name, const Images& shape, Edge in, Edge out)
      : range_(layout.range(name + ".weight", name + ".bias")),
        gamma_(layout.parameter(name + ".weight").offset),
        beta_(layout.parameter(name + ".bias").offset),
        mean_(layout.statistic(name + ".running_mean").offset),
        variance_(layout.statistic(name + ".running_var").offset),
        statistics_(layout.parameter_floats),
        shape_(shape),
        in_(in),
        out_(out) {}

  void forward(const Pass& pass) override {
    if (pass.training) {
      float* const statistics = pass.sums + statistics_;
      channel_statistics(shape_, in_.value, statistics + mean_, statistics + variance_);
    }
    bn_relu_pool_forward(shape_, in_.value, parameters(pass), out_.value);
  }

  void backward(const Pass& pass) override {
    bn_relu_pool_backward(shape_,
                          in_.value,
                          parameters(pass),
                          out_.gradient,
                          in_.gradient,
                          pass.sums + gamma_,
                          pass.sums + beta_);
  }

  [[nodiscard]] Range completes() const override { return range_; }

 private:
  [[nodiscard]] BatchNorm parameters(const Pass& pass) const {
    const float* const statistics = pass.training ? pass.sums + statistics_ : pass.running;
    return {
        pass.weights + gamma_, pass.weights + beta_, statistics + mean_, statistics + variance_};
  }

  Range range_;
  std::size_t gamma_;
  std::size_t beta_;
  std::size_t mean_;
  std::size_t variance_;
  std::size_t statistics_;
  Images shape_;
  Edge in_;
  Edge out_;
};

}  // namespace

std::unique_ptr<Block> first_convolution(
    const Layout& layout, const std::string& name, const Images& out_shape, Edge in, Edge out) {
  return std::make_unique<FirstConvolution>(
      layout.range(name + ".weight", name + ".weight"), out_shape, in, out);
}

std::unique_ptr<Block> bn_relu_pool(
    const Layout& layout, const std::string& name, const Images& in_shape, Edge in, Edge out) {
  return std::make_unique<BnReluPool>(layout, name, in_shape, in, out);
}

HeadResult cross_entropy(const float* logits,
                         const std::uint32_t* labels,
                         int batch,
                         int classes,
                         const Objective& objective,
                         float* d_logits) {
  HeadResult result;
  const float spread = objective.smoothing / static_cast<float>(classes);
  const float kept = 1.0F - objective.smoothing;
  for (int n = 0; n < batch; ++n, logits += classes) {
    const auto label = static_cast<int>(labels[n]);
    const float* const top = std::max_element(logits, logits + classes);
    float sum = 0;
    for (int c = 0; c < classes; ++c) sum += portable_exp(logits[c] - *top);
    result.loss += std::log(sum) - kept * (logits[label] - *top);
    if (spread > 0)
      for (int c = 0; c < classes; ++c) result.loss -= spread * (logits[c] - *top);
    result.correct += top - logits == label ? 1 : 0;
    if (d_logits == nullptr) continue;
    for (int c = 0; c < classes; ++c)
      *d_logits++ = objective.scale *
                    (portable_exp(logits[c] - *top) / sum - ((c == label ? kept : 0.0F) + spread));
  }
  return result;
}

}  // namespace dts::train
