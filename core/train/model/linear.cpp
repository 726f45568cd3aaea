// SPDX-License-Identifier: Apache-2.0
// Fully connected layers, by oneDNN.
#include "core/train/model/blocks.hpp"
#include "core/train/model/gemm.hpp"
#include "core/train/model/onednn_port.hpp"

#include <algorithm>
#include <span>

namespace dts::train {
namespace {

using dnnl::memory;
using Tag = memory::format_tag;

using InnerProduct = dnnl::inner_product_forward;

class Linear : public Block {
 public:
  Linear(const Layout& layout, const std::string& name, const LinearShape& shape, Edge in, Edge out)
      : range_(layout.range(name + ".weight", name + ".bias")),
        weight_(layout.parameter(name + ".weight").offset),
        bias_(layout.parameter(name + ".bias").offset),
        shape_(shape),
        in_(in),
        out_(out),
        stream_(cpu()),
        forward_pd_(forward_desc(shape)),
        forward_(forward_pd_),
        x_(float_desc({shape.batch, shape.in}, Tag::ab), cpu(), in.value),
        b_(float_desc({shape.out}, Tag::a), cpu(), nullptr),
        y_(float_desc({shape.batch, shape.out}, Tag::ab), cpu(), out.value),
        w_(float_desc({shape.out, shape.in}, Tag::ab), forward_pd_.weights_desc(), nullptr) {}

  // Once per step, copies the weights into the layout with which products of 16 rows are 6 times as
  // fast.
  void prepare(const float* weights) override {
    w_.point_to(weights + weight_);
    w_.pull(stream_);
    b_.set_data_handle(const_cast<float*>(weights + bias_));  // NOLINT: oneDNN reads it
  }

  void forward(const Pass& /*pass*/) override {
    forward_.execute(stream_,
                     {{DNNL_ARG_SRC, x_},
                      {DNNL_ARG_WEIGHTS, w_.get()},
                      {DNNL_ARG_BIAS, b_},
                      {DNNL_ARG_DST, y_}});
  }

  void backward(const Pass& pass) override {
    float* const d_y = out_.gradient;
    if (shape_.relu)
      relu_backward(out_.value,
                    d_y,
                    static_cast<std::size_t>(shape_.batch) * static_cast<std::size_t>(shape_.out));
    sum_rows(d_y, shape_.batch, shape_.out, pass.sums + bias_);
    multiply({d_y, shape_.out, true},
             {in_.value, shape_.in},
             shape_.batch,
             {pass.sums + weight_, shape_.out, shape_.in, shape_.in});
    if (in_.gradient != nullptr)
      multiply({d_y, shape_.out},
               {pass.weights + weight_, shape_.in},
               shape_.out,
               {in_.gradient, shape_.batch, shape_.in, shape_.in});
  }

  [[nodiscard]] Range completes() const override { return range_; }

 private:
  static InnerProduct::primitive_desc forward_desc(const LinearShape& s) {
    return forward_primitive<InnerProduct>(s.relu ? followed_by_relu() : dnnl::primitive_attr(),
                                           dnnl::prop_kind::forward_training,
                                           float_desc({s.batch, s.in}, Tag::ab),
                                           float_desc({s.out, s.in}, Tag::any),
                                           float_desc({s.out}, Tag::a),
                                           float_desc({s.batch, s.out}, Tag::ab));
  }

  Range range_;
  std::size_t weight_;
  std::size_t bias_;
  LinearShape shape_;
  Edge in_;
  Edge out_;
  dnnl::stream stream_;
  InnerProduct::primitive_desc forward_pd_;
  InnerProduct forward_;
  memory x_;
  memory b_;
  memory y_;
  Port w_;
};

// The same with bf16 products.
class Bf16Linear : public Block {
 public:
  Bf16Linear(
      const Layout& layout, const std::string& name, const LinearShape& shape, Edge in, Edge out)
      : range_(layout.range(name + ".weight", name + ".bias")),
        bias_(layout.parameter(name + ".bias").offset),
        shape_(shape),
        in_(in),
        out_(out),
        products_({.rows = shape.batch,
                   .in = shape.in,
                   .out = shape.out,
                   .adds_output = true,
                   .has_input_gradient = in.gradient != nullptr}) {}

  void prepare(const float* weights) override { products_.prepare(weights + range_.begin); }

  void forward(const Pass& pass) override {
    for (std::size_t row = 0; row < static_cast<std::size_t>(shape_.batch); ++row)
      std::copy_n(pass.weights + bias_,
                  shape_.out,
                  out_.value + row * static_cast<std::size_t>(shape_.out));
    products_.forward(in_.value, out_.value);
    if (!shape_.relu) return;
    for (float& y : std::span(out_.value, count()))
      if (y < 0) y = 0;  // a NaN is kept
  }

  void backward(const Pass& pass) override {
    if (shape_.relu) relu_backward(out_.value, out_.gradient, count());
    sum_rows(out_.gradient, shape_.batch, shape_.out, pass.sums + bias_);
    products_.backward(out_.gradient, pass.sums + range_.begin, in_.gradient);
  }

  [[nodiscard]] Range completes() const override { return range_; }

 private:
  [[nodiscard]] std::size_t count() const {
    return static_cast<std::size_t>(shape_.batch) * static_cast<std::size_t>(shape_.out);
  }

  Range range_;
  std::size_t bias_;
  LinearShape shape_;
  Edge in_;
  Edge out_;
  Bf16Layer products_;
};

}  // namespace

std::unique_ptr<Block> linear(
    const Layout& layout, const std::string& name, const LinearShape& shape, Edge in, Edge out) {
  if (shape.precision == Precision::bf16)
    return std::make_unique<Bf16Linear>(layout, name, shape, in, out);
  return std::make_unique<Linear>(layout, name, shape, in, out);
}

}  // namespace dts::train
