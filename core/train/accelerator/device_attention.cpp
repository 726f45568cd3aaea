// SPDX-License-Identifier: Apache-2.0
#include "core/train/accelerator/device_attention.hpp"

#include <algorithm>
#include <cmath>

namespace dts::train::accelerator {
namespace {

class DeviceAttention : public Block {
 public:
  DeviceAttention(Queue& queue,
                  Products& products,
                  const Attention& shape,
                  Edge out,
                  float* weights,
                  float* d_weights)
      : queue_(queue),
        products_(products),
        shape_(shape),
        out_{out, shape.queries.count * shape.width, shape.queries.count},
        scale_(1.0F / std::sqrt(static_cast<float>(shape.width))),
        weights_(weights),
        d_weights_(d_weights) {
    const auto context = static_cast<std::size_t>(shape.context);
    const auto heads = static_cast<std::size_t>(shape.keys.count);
    products_.reserve(heads * context * std::max(context, static_cast<std::size_t>(shape.width)));
  }

  void forward(const Pass& /*pass*/) override {
    for (int sample = 0; sample < shape_.batch; ++sample) {
      make_weights(sample);
      for (int member = 0; member < group(); ++member)
        along(scores(weights_, member),
              false,
              value(shape_.values, sample),
              of_queries(value(out_, sample), member));
    }
  }

  // What the queries of a group add to the gradients of the keys and values that serve them is
  // added in the order of the group.
  void backward(const Pass& /*pass*/) override {
    for (int sample = 0; sample < shape_.batch; ++sample) {
      make_weights(sample);
      for (int member = 0; member < group(); ++member) {
        const Rows d_out = of_queries(gradient(out_, sample), member);
        along(scores(weights_, member), true, d_out, gradient(shape_.values, sample), member > 0);
        across(d_out, value(shape_.values, sample), scores(d_weights_, member));
      }
      queue_.launch(CausalSoftmaxBackward{rows(), scale_, weights_, d_weights_});
      for (int member = 0; member < group(); ++member) {
        const Rows d_scores = scores(d_weights_, member);
        along(d_scores,
              false,
              value(shape_.keys, sample),
              of_queries(gradient(shape_.queries, sample), member));
        along(d_scores,
              true,
              of_queries(value(shape_.queries, sample), member),
              gradient(shape_.keys, sample),
              member > 0);
      }
    }
  }

 private:
  // Of one sample: a matrix for each head of keys.
  struct Rows {
    float* values = nullptr;
    int pitch = 0;
    std::int64_t stride = 0;  // floats from one matrix to the next
  };

  // Heads of queries that each head of keys serves: a run of them.
  [[nodiscard]] int group() const { return shape_.queries.count / shape_.keys.count; }

  // Those of one member of each group, of rows of all of them.
  [[nodiscard]] Rows of_queries(Rows rows, int member) const {
    return {rows.values + static_cast<std::ptrdiff_t>(member) * shape_.width,
            rows.pitch,
            rows.stride * group()};
  }

  [[nodiscard]] Rows scores(float* values, int member) const {
    const std::int64_t area = static_cast<std::int64_t>(shape_.context) * shape_.context;
    return {values + member * area, shape_.context, area * group()};
  }

  [[nodiscard]] Rowwise rows() const {
    return {shape_.queries.count * shape_.context, shape_.context};
  }

  [[nodiscard]] Rows value(const Heads& heads, int sample) const {
    return {heads.edge.value + begin(heads, sample), heads.pitch, shape_.width};
  }

  [[nodiscard]] Rows gradient(const Heads& heads, int sample) const {
    return {heads.edge.gradient + begin(heads, sample), heads.pitch, shape_.width};
  }

  [[nodiscard]] std::size_t begin(const Heads& heads, int sample) const {
    return static_cast<std::size_t>(sample) * static_cast<std::size_t>(shape_.context) *
           static_cast<std::size_t>(heads.pitch);
  }

  [[nodiscard]] static dttrain_factor factor(const Rows& rows, bool is_transposed) {
    return {rows.values, rows.pitch, is_transposed ? 1 : 0, rows.stride};
  }

  void make_weights(int sample) {
    for (int member = 0; member < group(); ++member)
      across(of_queries(value(shape_.queries, sample), member),
             value(shape_.keys, sample),
             scores(weights_, member));
    queue_.launch(CausalSoftmax{rows(), scale_, weights_});
  }

  // to [context][context] = left right^T, of each head of keys
  void across(const Rows& left, const Rows& right, const Rows& to) {
    products_.multiply({factor(left, false),
                        factor(right, true),
                        to.values,
                        shape_.context,
                        shape_.context,
                        shape_.width,
                        to.pitch,
                        to.stride,
                        shape_.keys.count,
                        0,
                        DTTRAIN_FP32});
  }

  // to [context][width] = scores right, or scores^T right, of each head of keys
  void along(const Rows& scores,
             bool is_transposed,
             const Rows& right,
             const Rows& to,
             bool adds = false) {
    products_.multiply({factor(scores, is_transposed),
                        factor(right, false),
                        to.values,
                        shape_.context,
                        shape_.width,
                        shape_.context,
                        to.pitch,
                        to.stride,
                        shape_.keys.count,
                        adds ? 1 : 0,
                        DTTRAIN_FP32});
  }

  Queue& queue_;
  Products& products_;
  Attention shape_;
  Heads out_;
  float scale_;
  float* weights_;
  float* d_weights_;
};

}  // namespace

std::unique_ptr<Block> device_attention(Queue& queue,
                                        Products& products,
                                        const Attention& shape,
                                        Edge out,
                                        float* weights,
                                        float* d_weights) {
  return std::make_unique<DeviceAttention>(queue, products, shape, out, weights, d_weights);
}

}  // namespace dts::train::accelerator
