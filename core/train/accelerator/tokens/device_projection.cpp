// SPDX-License-Identifier: Apache-2.0
#include "core/train/accelerator/tokens/device_projection.hpp"

#include "core/train/accelerator/run_sums.hpp"
#include "core/train/accelerator/tokens/weight_gradient.hpp"

#include <algorithm>
#include <cstddef>
#include <stdexcept>
#include <utility>
#include <vector>

namespace dts::train::accelerator {
namespace {

// A run of output columns, computed by one product.
struct Part {
  int begin = 0;
  int count = 0;
};

// If a row has an odd number of values, as a vocabulary may, cuBLASLt has only slow algorithms,
// however well the rows are aligned. Therefore a vocabulary is split into a multiple of 64 columns
// and the few that remain.
std::vector<Part> parts_of(const Projection& shape) {
  constexpr int k_aligned = 64;
  const int most = shape.out / k_aligned * k_aligned;
  if (shape.room <= shape.out || shape.is_in_out || most == 0) return {{0, shape.out}};
  return {{0, most}, {most, shape.out - most}};
}

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
        bias_sums_(queue, shape_.rows, shape_.out, scratch.bias, rows_each()),
        parts_(parts_of(shape_)),
        curves_(curves) {
    for (const Part& part : parts_)
      weight_gradients_.emplace_back(queue,
                                     products,
                                     shape_.rows,
                                     shape_.is_in_out ? shape_.in : part.count,
                                     shape_.is_in_out ? part.count : shape_.in,
                                     scratch.weights);
    if (!shape_.bias.empty()) curves_.after->add_bias(bias_sums_, places_.bias);
    if (curves_.before != nullptr)
      curves_.before->add_reader(parts_.size() == 1 ? shape_.into : Into::adds);
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
    for (const Part& part : parts_) {
      dttrain_product product = packed_product({in_.value, shape_.in, 0, 0},
                                               weights(pass, part, !shape_.is_in_out),
                                               out_.value + part.begin,
                                               shape_.rows,
                                               part.count,
                                               shape_.in);
      product.pitch = pitch();
      product.plus = shape_.residual;
      if (!shape_.bias.empty()) product.bias = pass.weights + places_.bias;
      if (curves_.after->has_gelu()) {
        product.curve = DTTRAIN_GELU;
        product.before = product.out;
        product.out = curves_.after->out().value;
      }
      products_.multiply(product);
    }
  }

  void backward(const Pass& pass) override {
    if (!shape_.bias.empty() && !curves_.after->has_reader())
      add_bias_gradient(pass.sums + places_.bias);
    const dttrain_factor x{in_.value, shape_.in, 0, 0};
    const dttrain_factor d_y =
        products_.round_once(out_.gradient, shape_.rows, shape_.out, pitch());
    for (std::size_t i = 0; i < parts_.size(); ++i) {
      const dttrain_factor of_part = columns_of(d_y, parts_[i]);
      add_weight_gradient(weight_gradients_[i], x, of_part, gradient_of_weights(pass, parts_[i]));
      if (in_.gradient != nullptr) multiply_back(pass, parts_[i], of_part);
    }
  }

  [[nodiscard]] Range completes() const override {
    return shape_.is_shared ? Range{} : places_.range;
  }

  [[nodiscard]] Range reads() const override { return places_.range; }

 private:
  // The pitch of the output and of its gradient.
  [[nodiscard]] int pitch() const { return std::max(shape_.room, shape_.out); }

  [[nodiscard]] int rows_each() const { return bias_rows_each(shape_.rows, shape_.out); }

  void add_bias_gradient(float* to) {
    float* const sums = bias_sums_.place(0, to);
    if (const Bfloat* const d_y = products_.rounded(out_.gradient))
      queue_.launch(ColumnSums<Bfloat>{{shape_.rows, shape_.out, rows_each()}, d_y, sums});
    else
      queue_.launch(ColumnSums<float>{{shape_.rows, shape_.out, rows_each()}, out_.gradient, sums});
    bias_sums_.add_up(0, to);
  }

  // The offset of the first column of a part; if there is more than one part, W is [out][in].
  [[nodiscard]] std::size_t place_of(const Part& part) const {
    return places_.range.begin + floats_of(part.begin, shape_.in);
  }

  [[nodiscard]] float* gradient_of_weights(const Pass& pass, const Part& part) const {
    return pass.sums + place_of(part);
  }

  [[nodiscard]] dttrain_factor columns_of(dttrain_factor d_y, const Part& part) const {
    const std::size_t each = products_.rounds() ? sizeof(Bfloat) : sizeof(float);
    d_y.values =
        static_cast<const std::byte*>(d_y.values) + static_cast<std::size_t>(part.begin) * each;
    return d_y;
  }

  void add_weight_gradient(WeightGradient& gradient,
                           const dttrain_factor& x,
                           const dttrain_factor& d_y,
                           float* to) {
    const bool is_rounded = products_.rounds();
    if (shape_.is_in_out)
      gradient.multiply(x, d_y, {false, is_rounded}, to);
    else
      gradient.multiply(d_y, x, {is_rounded, false}, to);
  }

  // Computes the gradient of the input, or adds a part's contribution.
  void multiply_back(const Pass& pass, const Part& part, const dttrain_factor& d_y) {
    dttrain_product product = packed_product(d_y,
                                             weights(pass, part, shape_.is_in_out),
                                             in_.gradient,
                                             shape_.rows,
                                             shape_.in,
                                             part.count);
    if (shape_.into == Into::adds || part.begin > 0) product.plus = in_.gradient;
    if (curves_.before == nullptr) return products_.multiply(product, {products_.rounds(), false});
    product.curve = DTTRAIN_GELU_GRADIENT;
    product.before = curves_.before->in().value;
    product.out = curves_.before->in().gradient;
    auto& bias = curves_.before->bias();
    float* const d_bias = bias ? pass.sums + bias->place : nullptr;
    if (bias) {
      product.sums = bias->sums.place(0, d_bias);
      product.sum_rows = bias->sums.rows_each();
    }
    products_.multiply(product, {products_.rounds(), false});
    if (bias) bias->sums.add_up(0, d_bias);
  }

  [[nodiscard]] dttrain_factor weights(const Pass& pass,
                                       const Part& part,
                                       bool is_transposed) const {
    return {pass.weights + place_of(part),
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
  std::vector<Part> parts_;
  std::vector<WeightGradient> weight_gradients_;  // one per part
  Curves curves_;
};

}  // namespace

std::size_t DeviceProjectionScratch::floats_of_bias(const Projection& shape) {
  if (shape.bias.empty()) return 0;
  return RunSums::floats(shape.rows, shape.out, bias_rows_each(shape.rows, shape.out));
}

std::size_t DeviceProjectionScratch::floats_of_weights(const Projection& shape) {
  std::size_t most = 0;
  for (const Part& part : parts_of(shape))
    most = std::max(most, WeightGradient::floats(shape.rows, shape.in, part.count));
  return most;
}

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
