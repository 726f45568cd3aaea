// SPDX-License-Identifier: Apache-2.0
#include "core/train/accelerator/tokens/device_projection.hpp"

#include "core/train/accelerator/run_sums.hpp"
#include "core/train/accelerator/tokens/weight_gradient.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

namespace dts::train::accelerator {
namespace {

class DeviceProjection : public Block {
 public:
  DeviceProjection(Queue& queue,
                   Products& products,
                   const Layout& layout,
                   Projection shape,
                   Edge in,
                   Edge out,
                   const DeviceProjectionScratch& scratch,
                   const Curves& curves)
      : queue_(queue),
        products_(products),
        shape_(std::move(shape)),
        places_(layout, shape_),
        in_(in),
        out_(out),
        bias_sums_(queue, shape_.rows, shape_.out, scratch.bias),
        weight_gradient_(queue,
                         products,
                         shape_.rows,
                         shape_.is_in_out ? shape_.in : shape_.out,
                         shape_.is_in_out ? shape_.out : shape_.in,
                         scratch.weights),
        curves_(curves) {
    if (curves_.before != nullptr) curves_.before->read(shape_.into);
    if (pitch() > shape_.out && !(shape_.bias.empty() && shape_.residual == nullptr))
      throw std::logic_error("rows with room between them, and something added to them");
    const std::size_t weights = floats_of(shape_.in, shape_.out);
    products_.reserve(Products::Place::left, weights);
    products_.reserve(Products::Place::right, weights);
    const std::size_t given = floats_of(shape_.rows, shape_.in);
    if (products_.rounded(in_.value) == nullptr) {
      products_.reserve(Products::Place::left, given);
      products_.reserve(Products::Place::right, given);
    }
    if (products_.rounded(out_.gradient) == nullptr)
      products_.reserve(Products::Place::once, floats_of(shape_.rows, shape_.out));
  }

  void forward(const Pass& pass) override {
    dttrain_product product = packed_product({in_.value, shape_.in, 0, 0},
                                             weights(pass, !shape_.is_in_out),
                                             out_.value,
                                             shape_.rows,
                                             shape_.out,
                                             shape_.in);
    product.pitch = pitch();
    product.plus = shape_.residual;
    if (!shape_.bias.empty()) product.bias = pass.weights + places_.bias;
    if (curves_.after->is_taken()) {
      product.curve = DTTRAIN_GELU;
      product.before = product.out;
      product.out = curves_.after->out().value;
    }
    products_.multiply(product);
  }

  void backward(const Pass& pass) override {
    if (!shape_.bias.empty()) add_bias_gradient(pass.sums + places_.bias);
    const dttrain_factor x{in_.value, shape_.in, 0, 0};
    const dttrain_factor d_y =
        products_.round_once(out_.gradient, shape_.rows, shape_.out, pitch());
    const bool is_rounded = products_.rounds();
    float* const d_weights = pass.sums + places_.range.begin;
    if (shape_.is_in_out)
      weight_gradient_.multiply(x, d_y, {false, is_rounded}, d_weights);
    else
      weight_gradient_.multiply(d_y, x, {is_rounded, false}, d_weights);
    if (in_.gradient == nullptr) return;
    dttrain_product product = packed_product(
        d_y, weights(pass, shape_.is_in_out), in_.gradient, shape_.rows, shape_.in, shape_.out);
    if (shape_.into == Into::adds) product.plus = in_.gradient;
    if (curves_.before != nullptr) {
      product.curve = DTTRAIN_GELU_GRADIENT;
      product.before = curves_.before->in().value;
      product.out = curves_.before->in().gradient;
    }
    products_.multiply(product, {is_rounded, false});
  }

  [[nodiscard]] Range completes() const override {
    return shape_.is_shared ? Range{} : places_.range;
  }

  [[nodiscard]] Range reads() const override { return places_.range; }

 private:
  // Of what it gives, and of its gradient.
  [[nodiscard]] int pitch() const { return std::max(shape_.room, shape_.out); }

  void add_bias_gradient(float* to) {
    float* const sums = bias_sums_.place(0, to);
    if (const Bfloat* const d_y = products_.rounded(out_.gradient))
      queue_.launch(ColumnSums<Bfloat>{{shape_.rows, shape_.out}, d_y, sums});
    else
      queue_.launch(ColumnSums<float>{{shape_.rows, shape_.out}, out_.gradient, sums});
    bias_sums_.add_up(0, to);
  }

  [[nodiscard]] dttrain_factor weights(const Pass& pass, bool is_transposed) const {
    return {pass.weights + places_.range.begin,
            shape_.is_in_out ? shape_.out : shape_.in,
            is_transposed ? 1 : 0,
            0};
  }

  Queue& queue_;
  Products& products_;
  Projection shape_;
  ProjectionPlaces places_;
  Edge in_;
  Edge out_;
  RunSums bias_sums_;
  WeightGradient weight_gradient_;
  Curves curves_;
};

}  // namespace

std::unique_ptr<Block> device_projection(Queue& queue,
                                         Products& products,
                                         const Layout& layout,
                                         const Projection& shape,
                                         Edge in,
                                         Edge out,
                                         const DeviceProjectionScratch& scratch,
                                         const Curves& curves) {
  return std::make_unique<DeviceProjection>(
      queue, products, layout, shape, in, out, scratch, curves);
}

}  // namespace dts::train::accelerator
