// SPDX-License-Identifier: Apache-2.0
#include "core/train/model/gemm.hpp"

#include <stdexcept>

namespace dts::train {
namespace {

using dnnl::memory;
using Type = memory::data_type;
using Tag = memory::format_tag;

memory matrix(int rows, int columns, Type type, bool is_transposed) {
  return {{{rows, columns}, type, is_transposed ? Tag::ba : Tag::ab}, cpu(), nullptr};
}

dnnl::matmul::primitive_desc product_desc(const memory& a,
                                          const memory& b,
                                          const memory& out,
                                          bool adds) {
  dnnl::primitive_attr attributes;
  if (adds) {
    dnnl::post_ops after;
    after.append_sum(1.0F);
    attributes.set_post_ops(after);
  }
  return forward_primitive<dnnl::matmul>(attributes, a.get_desc(), b.get_desc(), out.get_desc());
}

}  // namespace

void multiply(const Factor& a, const Factor& b, int inner, const Product& out, bool adds) {
  const auto status = dnnl::sgemm(a.is_transposed ? 'T' : 'N',
                                  b.is_transposed ? 'T' : 'N',
                                  out.rows,
                                  out.columns,
                                  inner,
                                  1.0F,
                                  a.values,
                                  a.pitch,
                                  b.values,
                                  b.pitch,
                                  adds ? 1.0F : 0.0F,
                                  out.values,
                                  out.pitch);
  if (status != dnnl::status::success) throw std::runtime_error("a product of matrices failed");
}

Bf16Array::Bf16Array(std::size_t count)
    : values_({{static_cast<memory::dim>(count)}, Type::bf16, Tag::a}, cpu()) {}

Bf16Product::Bf16Product(const Bf16ProductShape& s)
    : stream_(cpu()),
      a_(matrix(s.rows, s.inner, Type::bf16, s.is_a_transposed)),
      b_(matrix(s.inner, s.columns, Type::bf16, s.is_b_transposed)),
      out_(matrix(s.rows, s.columns, Type::f32, false)),
      product_(product_desc(a_, b_, out_, s.adds)) {}

void Bf16Product::compute(Bf16* a, Bf16* b, float* out) {
  a_.set_data_handle(a);
  b_.set_data_handle(b);
  out_.set_data_handle(out);
  product_.execute(stream_, {{DNNL_ARG_SRC, a_}, {DNNL_ARG_WEIGHTS, b_}, {DNNL_ARG_DST, out_}});
}

Bf16Layer::Bf16Layer(const Bf16Shape& s)
    : shape_(s),
      x_(area(s.rows, s.in)),
      weights_(area(s.in, s.out)),
      d_y_(area(s.rows, s.out)),
      forward_({.rows = s.rows,
                .inner = s.in,
                .columns = s.out,
                .is_b_transposed = !s.is_in_out,
                .adds = s.adds_output}),
      d_weights_({.rows = s.is_in_out ? s.in : s.out,
                  .inner = s.rows,
                  .columns = s.is_in_out ? s.out : s.in,
                  .is_a_transposed = true}) {
  if (s.has_input_gradient)
    d_x_.emplace(Bf16ProductShape{.rows = s.rows,
                                  .inner = s.out,
                                  .columns = s.in,
                                  .is_b_transposed = s.is_in_out,
                                  .adds = s.adds_input_gradient});
}

void Bf16Layer::prepare(const float* weights) {
  round_to_bf16(weights, area(shape_.in, shape_.out), weights_.data());
}

void Bf16Layer::forward(const float* x, float* y) {
  round_to_bf16(x, area(shape_.rows, shape_.in), x_.data());
  forward_.compute(x_.data(), weights_.data(), y);
}

void Bf16Layer::backward(const float* d_y, float* d_weights, float* d_x) {
  round_to_bf16(d_y, area(shape_.rows, shape_.out), d_y_.data());
  if (shape_.is_in_out)
    d_weights_.compute(x_.data(), d_y_.data(), d_weights);
  else
    d_weights_.compute(d_y_.data(), x_.data(), d_weights);
  if (d_x_) d_x_->compute(d_y_.data(), weights_.data(), d_x);
}

}  // namespace dts::train
