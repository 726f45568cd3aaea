// SPDX-License-Identifier: Apache-2.0
#include "core/train/model/image_blocks.hpp"

#include "core/train/device/image_kernels.hpp"
#include "core/train/model/batch_norm.hpp"

namespace dts::train {
namespace {

class BnRelu : public Block {
 public:
  BnRelu(const Layout& layout,
         const std::string& name,
         const Images& shape,
         Edge in,
         Edge out,
         const float* residual)
      : norm_(layout, name), shape_(shape), in_(in), out_(out), residual_(residual) {}

  void forward(const Pass& pass) override {
    norm_.measure(pass, shape_, in_.value);
    image_kernels().bn_relu_forward(
        shape_, in_.value, norm_.parameters(pass), residual_, out_.value);
  }

  void backward(const Pass& pass) override {
    image_kernels().bn_relu_backward({shape_,
                                      in_.value,
                                      out_.value,
                                      norm_.parameters(pass),
                                      out_.gradient,
                                      in_.gradient,
                                      norm_.d_gamma(pass),
                                      norm_.d_beta(pass)});
  }

  [[nodiscard]] Range completes() const override { return norm_.range(); }

 private:
  BatchNormTensors norm_;
  Images shape_;
  Edge in_;
  Edge out_;
  const float* residual_;
};

class GradientSum : public Block {
 public:
  GradientSum(std::size_t count, Edge in, const float* branch)
      : count_(count), in_(in), branch_(branch) {}

  void forward(const Pass& /*pass*/) override {}

  void backward(const Pass& /*pass*/) override { add(in_.gradient, in_.gradient, branch_, count_); }

 private:
  std::size_t count_;
  Edge in_;
  const float* branch_;
};

class NarrowingShortcut : public Block {
 public:
  NarrowingShortcut(const Images& shape, Edge in, Edge out)
      : in_shape_(shape),
        out_shape_{shape.batch, 2 * shape.channels, (shape.height + 1) / 2, (shape.width + 1) / 2},
        in_(in),
        out_(out) {}

  // Zeros are never overwritten, and need not be written again.
  void forward(const Pass& /*pass*/) override {
    for_each_run([&](std::size_t from, std::size_t to) {
      std::copy_n(in_.value + from, k_run, out_.value + to);
    });
  }

  void backward(const Pass& /*pass*/) override {
    for_each_run([&](std::size_t from, std::size_t to) {
      for (std::size_t i = 0; i < k_run; ++i) in_.gradient[from + i] += out_.gradient[to + i];
    });
  }

 private:
  // Number of channels that stay adjacent on both sides.
  static constexpr std::size_t k_run = k_lanes / 2;

  static std::size_t position(const Images& s, int n, int channel, int y, int x) {
    const int blocks = s.channels / k_lanes;
    const int row = (n * blocks + channel / k_lanes) * s.height + y;
    return (static_cast<std::size_t>(row) * static_cast<std::size_t>(s.width) +
            static_cast<std::size_t>(x)) *
               k_lanes +
           static_cast<std::size_t>(channel % k_lanes);
  }

  template <class Visit>
  void for_each_run(Visit visit) const {
    const int before = in_shape_.channels / 2;
    for (int n = 0; n < in_shape_.batch; ++n)
      for (int channel = 0; channel < in_shape_.channels; channel += static_cast<int>(k_run))
        for (int y = 0; y < out_shape_.height; ++y)
          for (int x = 0; x < out_shape_.width; ++x)
            visit(position(in_shape_, n, channel, 2 * y, 2 * x),
                  position(out_shape_, n, before + channel, y, x));
  }

  Images in_shape_;
  Images out_shape_;
  Edge in_;
  Edge out_;
};

class AveragePool : public Block {
 public:
  AveragePool(const Images& shape, Edge in, Edge out) : shape_(shape), in_(in), out_(out) {}

  void forward(const Pass& /*pass*/) override {
    image_kernels().average_pool_forward(shape_, in_.value, out_.value);
  }

  void backward(const Pass& /*pass*/) override {
    image_kernels().average_pool_backward(shape_, out_.gradient, in_.gradient);
  }

 private:
  Images shape_;
  Edge in_;
  Edge out_;
};

}  // namespace

std::unique_ptr<Block> bn_relu(const Layout& layout,
                               const std::string& name,
                               const Images& shape,
                               Edge in,
                               Edge out,
                               const float* residual) {
  return std::make_unique<BnRelu>(layout, name, shape, in, out, residual);
}

std::unique_ptr<Block> gradient_sum(std::size_t count, Edge in, const float* branch) {
  return std::make_unique<GradientSum>(count, in, branch);
}

std::unique_ptr<Block> narrowing_shortcut(const Images& in_shape, Edge in, Edge out) {
  return std::make_unique<NarrowingShortcut>(in_shape, in, out);
}

std::unique_ptr<Block> average_pool(const Images& in_shape, Edge in, Edge out) {
  return std::make_unique<AveragePool>(in_shape, in, out);
}

}  // namespace dts::train
