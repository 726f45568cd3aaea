// SPDX-License-Identifier: Apache-2.0
#include "core/train/accelerator/device_elements.hpp"

namespace dts::train::accelerator {
namespace {

class DeviceGelu : public Block {
 public:
  DeviceGelu(Queue& queue, std::size_t count, Edge in, Edge out, Bfloat* copy)
      : queue_(queue), count_(count), in_(in), out_(out), copy_(copy) {}

  void forward(const Pass& /*pass*/) override {
    queue_.launch(GeluForward{{count_}, in_.value, out_.value, copy_});
  }

  void backward(const Pass& /*pass*/) override {
    queue_.launch(GeluBackward{{count_}, in_.value, out_.gradient, in_.gradient});
  }

 private:
  Queue& queue_;
  std::size_t count_;
  Edge in_;
  Edge out_;
  Bfloat* copy_;
};

class DeviceSwiglu : public Block {
 public:
  DeviceSwiglu(Queue& queue, std::size_t count, Edge gate, Edge up, Edge out, Bfloat* copy)
      : queue_(queue), count_(count), gate_(gate), up_(up), out_(out), copy_(copy) {}

  void forward(const Pass& /*pass*/) override {
    queue_.launch(SwigluForward{{count_}, gate_.value, up_.value, out_.value, copy_});
  }

  void backward(const Pass& /*pass*/) override {
    queue_.launch(SwigluBackward{
        {count_}, gate_.value, up_.value, out_.gradient, gate_.gradient, up_.gradient});
  }

 private:
  Queue& queue_;
  std::size_t count_;
  Edge gate_;
  Edge up_;
  Edge out_;
  Bfloat* copy_;
};

class DeviceRotation : public Block {
 public:
  DeviceRotation(Queue& queue, const Rotation& rotation) : queue_(queue), r_(rotation) {}

  void forward(const Pass& /*pass*/) override { turn(r_.heads.edge.value, 1); }

  void backward(const Pass& /*pass*/) override { turn(r_.heads.edge.gradient, -1); }

 private:
  void turn(float* values, float sign) {
    const int half = r_.width / 2;
    const auto rows = static_cast<std::size_t>(r_.batch) * static_cast<std::size_t>(r_.context);
    const auto pairs = static_cast<std::size_t>(r_.heads.count) * static_cast<std::size_t>(half);
    queue_.launch(Rotate{{rows * pairs},
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
};

}  // namespace

std::unique_ptr<Block> device_gelu(
    Queue& queue, std::size_t count, Edge in, Edge out, Bfloat* copy) {
  return std::make_unique<DeviceGelu>(queue, count, in, out, copy);
}

std::unique_ptr<Block> device_swiglu(
    Queue& queue, std::size_t count, Edge gate, Edge up, Edge out, Bfloat* copy) {
  return std::make_unique<DeviceSwiglu>(queue, count, gate, up, out, copy);
}

std::unique_ptr<Block> device_rotation(Queue& queue, const Rotation& rotation) {
  return std::make_unique<DeviceRotation>(queue, rotation);
}

}  // namespace dts::train::accelerator
