// SPDX-License-Identifier: Apache-2.0
#include "core/train/accelerator/images/device_image_blocks.hpp"

#include "core/train/accelerator/stored_edge.hpp"

#include <utility>

namespace dts::train::accelerator {
namespace {

template <class Value>
class DeviceGradientSum : public Block {
 public:
  DeviceGradientSum(
      Queue& queue, const Products& products, std::size_t count, Edge in, const float* branch)
      : queue_(queue), products_(products), count_(count), in_(in), branch_(branch) {}

  void forward(const Pass& /*pass*/) override {}

  void backward(const Pass& /*pass*/) override {
    // Converted here because the blocks that write the branch may be made after this one.
    queue_.launch(
        Add<Value>{{count_}, products_.as<Value>(in_.gradient), products_.as<Value>(branch_)});
  }

 private:
  Queue& queue_;
  const Products& products_;
  std::size_t count_;
  Edge in_;
  const float* branch_;
};

template <class Value>
class DeviceNarrowingShortcut : public Block {
 public:
  DeviceNarrowingShortcut(
      Queue& queue, const Products& products, const Images& in_shape, Edge in, Edge out)
      : queue_(queue),
        shape_{in_shape.height, in_shape.width},
        rows_(in_shape.batch * ((in_shape.height + 1) / 2) * ((in_shape.width + 1) / 2)),
        channels_(in_shape.channels),
        in_(products, in),
        out_(products, out) {}

  void forward(const Pass& /*pass*/) override {
    queue_.launch(Narrow<Value>{{rows_, 2 * channels_}, shape_, in_.value, out_.value});
  }

  void backward(const Pass& /*pass*/) override {
    queue_.launch(NarrowBackward<Value>{{rows_, channels_}, shape_, out_.gradient, in_.gradient});
  }

 private:
  Queue& queue_;
  NarrowedShape shape_;
  int rows_;  // pixels of the output
  int channels_;
  StoredEdge<Value> in_;
  StoredEdge<Value> out_;
};

template <class Value>
class DeviceAveragePool : public Block {
 public:
  DeviceAveragePool(Queue& queue, const Products& products, const Images& shape, Edge in, Edge out)
      : queue_(queue),
        shape_(shape),
        pixels_(shape.height * shape.width),
        in_(products, in),
        out_(out) {}

  void forward(const Pass& /*pass*/) override {
    queue_.launch(PixelMeans<Value>{shape_.batch, pixels_, shape_.channels, in_.value, out_.value});
  }

  void backward(const Pass& /*pass*/) override {
    queue_.launch(PixelMeansBackward<Value>{
        {shape_.batch * pixels_, shape_.channels}, pixels_, out_.gradient, in_.gradient});
  }

 private:
  Queue& queue_;
  Images shape_;
  int pixels_;  // per image
  StoredEdge<Value> in_;
  Edge out_;  // has floats
};

class DeviceReluAfter : public Block {
 public:
  DeviceReluAfter(Queue& queue, std::unique_ptr<Block> product, std::size_t count, Edge out)
      : queue_(queue), product_(std::move(product)), count_(count), out_(out) {}

  void forward(const Pass& pass) override {
    product_->forward(pass);
    queue_.launch(Relu{{count_}, out_.value});
  }

  void backward(const Pass& pass) override {
    queue_.launch(ReluBackward{{count_}, out_.value, out_.gradient});
    product_->backward(pass);
  }

  [[nodiscard]] Range completes() const override { return product_->completes(); }

  [[nodiscard]] Range reads() const override { return product_->reads(); }

  [[nodiscard]] Range reads_in_backward() const override { return product_->reads_in_backward(); }

 private:
  Queue& queue_;
  std::unique_ptr<Block> product_;
  std::size_t count_;
  Edge out_;
};

}  // namespace

std::unique_ptr<Block> device_gradient_sum(
    Queue& queue, const Products& products, std::size_t count, Edge in, const float* branch) {
  return stored_block<DeviceGradientSum>(queue, products, count, in, branch);
}

std::unique_ptr<Block> device_narrowing_shortcut(
    Queue& queue, Products& products, const Images& in_shape, Edge in, Edge out) {
  products.keep_rounded(out, in_shape.count() / 2);
  return stored_block<DeviceNarrowingShortcut>(queue, products, in_shape, in, out);
}

std::unique_ptr<Block> device_average_pool(
    Queue& queue, const Products& products, const Images& in_shape, Edge in, Edge out) {
  return stored_block<DeviceAveragePool>(queue, products, in_shape, in, out);
}

std::unique_ptr<Block> device_relu_after(Queue& queue,
                                         std::unique_ptr<Block> product,
                                         std::size_t count,
                                         Edge out) {
  return std::make_unique<DeviceReluAfter>(queue, std::move(product), count, out);
}

}  // namespace dts::train::accelerator
