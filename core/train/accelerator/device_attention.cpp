// SPDX-License-Identifier: Apache-2.0
#include "core/train/accelerator/device_attention.hpp"

#include <cmath>

namespace dts::train::accelerator {
namespace {

class DeviceAttention : public Block {
 public:
  DeviceAttention(Queue& queue, const Attention& shape, Edge out, float* weights, float* d_weights)
      : queue_(queue),
        shape_(shape),
        out_{out, shape.queries.count * shape.width, shape.queries.count},
        scale_(1.0F / std::sqrt(static_cast<float>(shape.width))),
        weights_(weights),
        d_weights_(d_weights) {}

  void forward(const Pass& /*pass*/) override {
    for (int sample = 0; sample < shape_.batch; ++sample) {
      make_weights(sample);
      along(weights_, false, value(shape_.values, sample), value(out_, sample));
    }
  }

  void backward(const Pass& /*pass*/) override {
    for (int sample = 0; sample < shape_.batch; ++sample) {
      make_weights(sample);
      along(weights_, true, gradient(out_, sample), gradient(shape_.values, sample));
      across(gradient(out_, sample), value(shape_.values, sample), d_weights_);
      queue_.launch(CausalSoftmaxBackward{rows(), scale_, weights_, d_weights_});
      along(d_weights_, false, value(shape_.keys, sample), gradient(shape_.queries, sample));
      along(d_weights_, true, value(shape_.queries, sample), gradient(shape_.keys, sample));
    }
  }

 private:
  // Rows of one sample, of all heads.
  struct Rows {
    float* values = nullptr;
    int pitch = 0;
  };

  [[nodiscard]] Rowwise rows() const {
    return {shape_.queries.count * shape_.context, shape_.context};
  }

  [[nodiscard]] Rows value(const Heads& heads, int sample) const {
    return {heads.edge.value + begin(heads, sample), heads.pitch};
  }

  [[nodiscard]] Rows gradient(const Heads& heads, int sample) const {
    return {heads.edge.gradient + begin(heads, sample), heads.pitch};
  }

  [[nodiscard]] std::size_t begin(const Heads& heads, int sample) const {
    return static_cast<std::size_t>(sample) * static_cast<std::size_t>(shape_.context) *
           static_cast<std::size_t>(heads.pitch);
  }

  [[nodiscard]] dttrain_factor factor(const Rows& rows, bool is_transposed) const {
    return {rows.values, rows.pitch, is_transposed ? 1 : 0, shape_.width};
  }

  [[nodiscard]] std::int64_t area() const {
    return static_cast<std::int64_t>(shape_.context) * shape_.context;
  }

  void make_weights(int sample) {
    across(value(shape_.queries, sample), value(shape_.keys, sample), weights_);
    queue_.launch(CausalSoftmax{rows(), scale_, weights_});
  }

  // to [context][context] = left right^T, of each head
  void across(const Rows& left, const Rows& right, float* to) {
    queue_.multiply({factor(left, false),
                     factor(right, true),
                     to,
                     shape_.context,
                     shape_.context,
                     shape_.width,
                     shape_.context,
                     area(),
                     shape_.queries.count,
                     0});
  }

  // to [context][width] = scores right, or scores^T right, of each head
  void along(const float* scores, bool is_transposed, const Rows& right, const Rows& to) {
    queue_.multiply({{scores, shape_.context, is_transposed ? 1 : 0, area()},
                     factor(right, false),
                     to.values,
                     shape_.context,
                     shape_.width,
                     shape_.context,
                     to.pitch,
                     shape_.width,
                     shape_.queries.count,
                     0});
  }

  Queue& queue_;
  Attention shape_;
  Heads out_;
  float scale_;
  float* weights_;
  float* d_weights_;
};

}  // namespace

std::unique_ptr<Block> device_attention(
    Queue& queue, const Attention& shape, Edge out, float* weights, float* d_weights) {
  return std::make_unique<DeviceAttention>(queue, shape, out, weights, d_weights);
}

}  // namespace dts::train::accelerator
