// SPDX-License-Identifier: Apache-2.0
#include "core/train/accelerator/tokens/device_elements.hpp"

#include "core/train/accelerator/stored_edge.hpp"

#include <utility>

namespace dts::train::accelerator {
namespace {

template <class Value>
class DeviceGelu : public Block {
 public:
  DeviceGelu(Queue& queue,
             const Products& products,
             std::size_t count,
             Edge in,
             Edge out,
             std::shared_ptr<const Curve> curve)
      : queue_(queue),
        count_(count),
        in_(products, in),
        out_(products, out),
        curve_(std::move(curve)) {}

  void forward(const Pass& /*pass*/) override {
    if (curve_ != nullptr) return;
    queue_.launch(GeluForward<Value>{{count_}, in_.value, out_.value});
  }

  void backward(const Pass& /*pass*/) override {
    if (curve_ != nullptr && curve_->has_reader()) return;
    queue_.launch(GeluBackward<Value>{{count_}, in_.value, out_.gradient, in_.gradient});
  }

 private:
  Queue& queue_;
  std::size_t count_;
  StoredEdge<Value> in_;
  StoredEdge<Value> out_;
  std::shared_ptr<const Curve> curve_;
};

template <class Value>
class DeviceSwiglu : public Block {
 public:
  DeviceSwiglu(
      Queue& queue, const Products& products, std::size_t count, Edge gate, Edge up, Edge out)
      : queue_(queue),
        count_(count),
        gate_(products, gate),
        up_(products, up),
        out_(products, out) {}

  void forward(const Pass& /*pass*/) override {
    queue_.launch(SwigluForward<Value>{{count_}, gate_.value, up_.value, out_.value});
  }

  void backward(const Pass& /*pass*/) override {
    queue_.launch(SwigluBackward<Value>{
        {count_}, gate_.value, up_.value, out_.gradient, gate_.gradient, up_.gradient});
  }

 private:
  Queue& queue_;
  std::size_t count_;
  StoredEdge<Value> gate_;
  StoredEdge<Value> up_;
  StoredEdge<Value> out_;
};

template <class Value>
class DeviceRotation : public Block {
 public:
  DeviceRotation(Queue& queue, const Products& products, const Rotation& rotation)
      : queue_(queue), r_(rotation), rotated_(products, rotation.heads.edge) {}

  void forward(const Pass& /*pass*/) override { rotate(rotated_.value, 1); }

  void backward(const Pass& /*pass*/) override { rotate(rotated_.gradient, -1); }

 private:
  void rotate(Value* values, float sign) {
    const int half = r_.width / 2;
    const auto rows = static_cast<std::size_t>(r_.batch) * static_cast<std::size_t>(r_.context);
    const auto pairs = static_cast<std::size_t>(r_.heads.count) * static_cast<std::size_t>(half);
    queue_.launch(Rotate<Value>{{rows * pairs},
                                r_.context,
                                r_.heads.count,
                                half,
                                r_.heads.pitch,
                                r_.cosine,
                                r_.sine,
                                sign,
                                values});
  }

  Queue& queue_;
  Rotation r_;
  StoredEdge<Value> rotated_;
};

}  // namespace

std::unique_ptr<Block> device_gelu(Queue& queue,
                                   Products& products,
                                   std::size_t count,
                                   Edge in,
                                   Edge out,
                                   std::shared_ptr<const Curve> curve) {
  products.keep_rounded(out, count);
  return stored_block<DeviceGelu>(queue, products, count, in, out, std::move(curve));
}

std::unique_ptr<Block> device_swiglu(
    Queue& queue, Products& products, std::size_t count, Edge gate, Edge up, Edge out) {
  products.keep_rounded(out, count);
  return stored_block<DeviceSwiglu>(queue, products, count, gate, up, out);
}

std::unique_ptr<Block> device_rotation(Queue& queue, Products& products, const Rotation& rotation) {
  return stored_block<DeviceRotation>(queue, products, rotation);
}

}  // namespace dts::train::accelerator
