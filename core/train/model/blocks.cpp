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
  FirstConvolution(std::size_t weight, const Images& shape, Edge in, Edge out)
      : weight_(weight), shape_(shape), in_(in), out_(out) {}

  void forward(const Pass& pass) override {
    conv3x3_first_forward(shape_, in_.value, pass.weights + weight_, out_.value);
  }

  void backward(const Pass& pass) override {
    conv3x3_first_backward(shape_, in_.value, out_.gradient, pass.sums + weight_);
  }

 private:
  std::size_t weight_;
  Images shape_;
  Edge in_;
  Edge out_;
};

class BnReluPool : public Block {
 public:
  BnReluPool(const Layout& layout, const std::string& name, const Images& shape, Edge in, Edge out)
      : gamma_(layout.parameter(name + ".weight").offset),
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

 private:
  [[nodiscard]] BatchNorm parameters(const Pass& pass) const {
    const float* const statistics = pass.training ? pass.sums + statistics_ : pass.running;
    return {
        pass.weights + gamma_, pass.weights + beta_, statistics + mean_, statistics + variance_};
  }

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
      layout.parameter(name + ".weight").offset, out_shape, in, out);
}

std::unique_ptr<Block> bn_relu_pool(
    const Layout& layout, const std::string& name, const Images& in_shape, Edge in, Edge out) {
  return std::make_unique<BnReluPool>(layout, name, in_shape, in, out);
}

HeadResult cross_entropy(const float* logits,
                         const std::uint8_t* labels,
                         int batch,
                         int classes,
                         float scale,
                         float* d_logits) {
  HeadResult result;
  for (int n = 0; n < batch; ++n, logits += classes) {
    const int label = labels[n];
    const float* const top = std::max_element(logits, logits + classes);
    float sum = 0;
    for (int c = 0; c < classes; ++c) sum += portable_exp(logits[c] - *top);
    result.loss += std::log(sum) - (logits[label] - *top);
    result.correct += top - logits == label ? 1 : 0;
    if (d_logits == nullptr) continue;
    for (int c = 0; c < classes; ++c)
      *d_logits++ = scale * (portable_exp(logits[c] - *top) / sum - (c == label ? 1.0F : 0.0F));
  }
  return result;
}

}  // namespace dts::train
