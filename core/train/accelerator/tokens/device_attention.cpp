// SPDX-License-Identifier: Apache-2.0
#include "core/train/accelerator/tokens/device_attention.hpp"

#include <cmath>

namespace dts::train::accelerator {
namespace {

template <class Factors>
class DeviceAttention : public Block {
 public:
  using Stored = typename Factors::Stored;

  DeviceAttention(
      Queue& queue, const Products& products, const Attention& shape, Edge out, float* deltas)
      : queue_(queue),
        base_{{shape.batch,
               shape.context,
               shape.width,
               shape.queries.count,
               shape.keys.count,
               1.0F / std::sqrt(static_cast<float>(shape.width))},
              inputs(rows(products, shape.queries.edge.value, shape.queries.pitch)),
              inputs(rows(products, shape.keys.edge.value, shape.keys.pitch)),
              inputs(rows(products, shape.values.edge.value, shape.values.pitch))},
        d_q_(rows(products, shape.queries.edge.gradient, shape.queries.pitch)),
        d_k_(rows(products, shape.keys.edge.gradient, shape.keys.pitch)),
        d_v_(rows(products, shape.values.edge.gradient, shape.values.pitch)),
        out_(rows(products, out.value, shape.queries.count * shape.width)),
        d_out_(rows(products, out.gradient, out_.pitch)),
        log_sums_(queue.allocate(base_.shape.positions())),
        deltas_(deltas) {}

  void forward(const Pass& /*pass*/) override {
    queue_.launch(AttendForward<Factors>{base_, out_, log_sums_});
  }

  void backward(const Pass& /*pass*/) override {
    const AttendBackward<Factors> both{base_, inputs(d_out_), log_sums_};
    queue_.launch(AttendQueries<Factors>{both, inputs(out_), d_q_, deltas_});
    queue_.launch(AttendKeys<Factors>{both, deltas_, d_k_, d_v_});
  }

 private:
  static HeadRows<Stored> rows(const Products& products, float* at, int pitch) {
    return {products.as<Stored>(at), pitch};
  }

  static HeadRows<const Stored> inputs(const HeadRows<Stored>& rows) {
    return {rows.values, rows.pitch};
  }

  Queue& queue_;
  Attend<Factors> base_;
  HeadRows<Stored> d_q_;
  HeadRows<Stored> d_k_;
  HeadRows<Stored> d_v_;
  HeadRows<Stored> out_;
  HeadRows<Stored> d_out_;
  float* log_sums_;  // computed in the forward pass for the backward pass
  float* deltas_;
};

}  // namespace

std::unique_ptr<Block> device_attention(
    Queue& queue, Products& products, const Attention& shape, Edge out, float* deltas) {
  const std::size_t count =
      row_begin(static_cast<std::size_t>(shape.batch) * static_cast<std::size_t>(shape.context),
                shape.queries.count * shape.width);
  products.keep_rounded(out, count);
  if (products.rounds())
    return std::make_unique<DeviceAttention<TensorRowFactors>>(queue, products, shape, out, deltas);
  return std::make_unique<DeviceAttention<PlainFactors>>(queue, products, shape, out, deltas);
}

}  // namespace dts::train::accelerator
