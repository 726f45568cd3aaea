// SPDX-License-Identifier: Apache-2.0
// The blocks that use our own kernels.
#include "core/train/model/blocks.hpp"

#include "core/train/device/elementary.hpp"
#include "core/train/device/token_kernels.hpp"
#include "core/train/model/batch_norm.hpp"

#include <algorithm>

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
      : norm_(layout, name), shape_(shape), in_(in), out_(out) {}

  void forward(const Pass& pass) override {
    norm_.measure(pass, shape_, in_.value);
    bn_relu_pool_forward(shape_, in_.value, norm_.parameters(pass), out_.value);
  }

  void backward(const Pass& pass) override {
    bn_relu_pool_backward(shape_,
                          in_.value,
                          norm_.parameters(pass),
                          out_.gradient,
                          in_.gradient,
                          norm_.d_gamma(pass),
                          norm_.d_beta(pass));
  }

  [[nodiscard]] Range completes() const override { return norm_.range(); }

 private:
  BatchNormTensors norm_;
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

namespace {

// For one prediction. Fewer than 32 classes use scalar code, which keeps the bits that earlier
// releases computed.
constexpr int k_least_vectorised = 32;

struct RowResult {
  double loss = 0;
  bool is_correct = false;
};

RowResult plain_row(
    const float* logits, int label, int classes, const Objective& objective, float* d_logits) {
  const float spread = objective.smoothing / static_cast<float>(classes);
  const float kept = 1.0F - objective.smoothing;
  const float* const at_top = std::max_element(logits, logits + classes);
  const float top = *at_top;
  float sum = 0;
  for (int c = 0; c < classes; ++c) sum += portable_exp(logits[c] - top);
  float loss =
      static_cast<float>(portable_log(static_cast<double>(sum))) - kept * (logits[label] - top);
  if (spread > 0)
    for (int c = 0; c < classes; ++c) loss -= spread * (logits[c] - top);
  const bool is_correct = at_top - logits == label;
  if (d_logits != nullptr)
    for (int c = 0; c < classes; ++c)
      d_logits[c] = objective.scale *
                    (portable_exp(logits[c] - top) / sum - ((c == label ? kept : 0.0F) + spread));
  return {static_cast<double>(loss), is_correct};
}

RowResult vector_row(
    const float* logits, int label, int classes, const Objective& objective, float* d_logits) {
  const float spread = objective.smoothing / static_cast<float>(classes);
  const float kept = 1.0F - objective.smoothing;
  const float at_label = logits[label];
  const SoftmaxSums sums = token_kernels().softmax_sums(logits, classes, d_logits);
  const double loss = portable_log(static_cast<double>(sums.sum)) -
                      static_cast<double>(kept) * static_cast<double>(at_label - sums.top) -
                      static_cast<double>(spread) * static_cast<double>(sums.total);
  if (d_logits != nullptr) {
    token_kernels().softmax_gradient(
        d_logits, classes, sums.sum, spread, objective.scale, d_logits);
    d_logits[label] -= objective.scale * kept;
  }
  return {loss, at_label >= sums.top};
}

}  // namespace

HeadResult cross_entropy(const float* logits,
                         const std::uint32_t* labels,
                         int batch,
                         int classes,
                         const Objective& objective,
                         float* d_logits) {
  const auto row = classes < k_least_vectorised ? plain_row : vector_row;
  HeadResult result;
  double loss = 0;
  for (int n = 0; n < batch; ++n, logits += classes) {
    const RowResult one = row(logits, static_cast<int>(labels[n]), classes, objective, d_logits);
    loss += one.loss;
    result.correct += one.is_correct ? 1 : 0;
    if (d_logits != nullptr) d_logits += classes;
  }
  result.loss = static_cast<float>(loss);
  return result;
}

}  // namespace dts::train
