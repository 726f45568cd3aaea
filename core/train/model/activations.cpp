// SPDX-License-Identifier: Apache-2.0
// GELU and SwiGLU as blocks.
#include "core/train/model/token_blocks.hpp"

namespace dts::train {
namespace {

class GeluBlock : public Block {
 public:
  GeluBlock(std::size_t count, Edge in, Edge out) : count_(count), in_(in), out_(out) {}

  void forward(const Pass& /*pass*/) override {
    token_kernels().gelu_forward(in_.value, count_, out_.value);
  }

  void backward(const Pass& /*pass*/) override {
    token_kernels().gelu_backward(in_.value, out_.gradient, count_, in_.gradient);
  }

 private:
  std::size_t count_;
  Edge in_;
  Edge out_;
};

class SwigluBlock : public Block {
 public:
  SwigluBlock(std::size_t count, Edge gate, Edge up, Edge out)
      : count_(count), gate_(gate), up_(up), out_(out) {}

  void forward(const Pass& /*pass*/) override {
    token_kernels().swiglu_forward(gate_.value, up_.value, count_, out_.value);
  }

  void backward(const Pass& /*pass*/) override {
    token_kernels().swiglu_backward(
        gate_.value, up_.value, out_.gradient, count_, gate_.gradient, up_.gradient);
  }

 private:
  std::size_t count_;
  Edge gate_;
  Edge up_;
  Edge out_;
};

}  // namespace

std::unique_ptr<Block> gelu(std::size_t count, Edge in, Edge out) {
  return std::make_unique<GeluBlock>(count, in, out);
}

std::unique_ptr<Block> swiglu(std::size_t count, Edge gate, Edge up, Edge out) {
  return std::make_unique<SwigluBlock>(count, gate, up, out);
}

}  // namespace dts::train
