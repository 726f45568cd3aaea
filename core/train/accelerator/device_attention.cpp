// SPDX-License-Identifier: Apache-2.0
#include "core/train/accelerator/device_attention.hpp"

#include <cmath>

namespace dts::train::accelerator {
namespace {

class DeviceAttention : public Block {
 public:
  DeviceAttention(Queue& queue, const Attention& shape, Edge out, float* deltas, Bfloat* copy)
      : queue_(queue),
        base_{{shape.batch,
               shape.context,
               shape.width,
               shape.queries.count,
               shape.keys.count,
               1.0F / std::sqrt(static_cast<float>(shape.width))},
              values_of(shape.queries),
              values_of(shape.keys),
              values_of(shape.values)},
        d_q_(gradients_of(shape.queries)),
        d_k_(gradients_of(shape.keys)),
        d_v_(gradients_of(shape.values)),
        out_{out, shape.queries.count * shape.width, shape.queries.count},
        log_sums_(queue.allocate(base_.shape.positions())),
        deltas_(deltas),
        copy_(copy) {}

  void forward(const Pass& /*pass*/) override {
    copy_ != nullptr ? forward_of<TensorFactors>() : forward_of<PlainFactors>();
  }

  void backward(const Pass& /*pass*/) override {
    copy_ != nullptr ? backward_of<TensorFactors>() : backward_of<PlainFactors>();
  }

 private:
  template <class Factors>
  void forward_of() {
    queue_.launch(AttendForward<Factors>{base_, {out_.edge.value, out_.pitch}, log_sums_, copy_});
  }

  template <class Factors>
  void backward_of() {
    const AttendBackward both{base_, {out_.edge.gradient, out_.pitch}, log_sums_};
    queue_.launch(AttendQueries<Factors>{both, values_of(out_), d_q_, deltas_});
    queue_.launch(AttendKeys<Factors>{both, deltas_, d_k_, d_v_});
  }

  static HeadRowsOf values_of(const Heads& heads) { return {heads.edge.value, heads.pitch}; }

  static HeadRows<float> gradients_of(const Heads& heads) {
    return {heads.edge.gradient, heads.pitch};
  }

  Queue& queue_;
  Attend base_;
  HeadRows<float> d_q_;
  HeadRows<float> d_k_;
  HeadRows<float> d_v_;
  Heads out_;
  float* log_sums_;  // from the forward pass to the backward pass
  float* deltas_;
  Bfloat* copy_;
};

}  // namespace

std::unique_ptr<Block> device_attention(
    Queue& queue, const Attention& shape, Edge out, float* deltas, Bfloat* copy) {
  return std::make_unique<DeviceAttention>(queue, shape, out, deltas, copy);
}

}  // namespace dts::train::accelerator
