// SPDX-License-Identifier: Apache-2.0
#include "core/train/model/gemm.hpp"

#include <stdexcept>

namespace dts::train {
namespace {

using dnnl::memory;
using Tag = memory::format_tag;

memory::desc matrix(int rows, int columns, Precision precision, Tag tag = Tag::ab) {
  return {{rows, columns}, type_of(precision), tag};
}

// The same memory as a matrix of that many rows, column after column.
memory transposed(const memory& matrix_in_rows, int rows, int columns) {
  return {matrix(rows, columns, Precision::bf16, Tag::ba), cpu(), matrix_in_rows.get_data_handle()};
}

Port rounded(int rows, int columns) {
  const memory::desc desc = matrix(rows, columns, Precision::bf16);
  return {desc, desc, nullptr};
}

memory output(int rows, int columns) {
  return {matrix(rows, columns, Precision::fp32), cpu(), nullptr};
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

Bf16Layer::Product::Product(const memory& a, const memory& b, const memory& out, bool adds)
    : a_(a), b_(b), out_(out), product_(product_desc(a, b, out, adds)) {}

void Bf16Layer::Product::compute(dnnl::stream& stream, float* out) {
  out_.set_data_handle(out);
  product_.execute(stream, {{DNNL_ARG_SRC, a_}, {DNNL_ARG_WEIGHTS, b_}, {DNNL_ARG_DST, out_}});
}

Bf16Layer::Bf16Layer(const Bf16Shape& s)
    : stream_(cpu()),
      x_(rounded(s.rows, s.in)),
      weights_(s.is_in_out ? rounded(s.in, s.out) : rounded(s.out, s.in)),
      d_y_(rounded(s.rows, s.out)),
      forward_(x_.get(),
               s.is_in_out ? weights_.get() : transposed(weights_.get(), s.in, s.out),
               output(s.rows, s.out),
               s.adds_output),
      d_weights_(
          s.is_in_out
              ? Product(transposed(x_.get(), s.in, s.rows), d_y_.get(), output(s.in, s.out), false)
              : Product(
                    transposed(d_y_.get(), s.out, s.rows), x_.get(), output(s.out, s.in), false)) {
  if (s.has_input_gradient)
    d_x_.emplace(d_y_.get(),
                 s.is_in_out ? transposed(weights_.get(), s.out, s.in) : weights_.get(),
                 output(s.rows, s.in),
                 s.adds_input_gradient);
}

void Bf16Layer::prepare(const float* weights) {
  weights_.point_to(weights);
  weights_.pull(stream_);
}

void Bf16Layer::forward(const float* x, float* y) {
  x_.point_to(x);
  x_.pull(stream_);
  forward_.compute(stream_, y);
}

void Bf16Layer::backward(const float* d_y, float* d_weights, float* d_x) {
  d_y_.point_to(d_y);
  d_y_.pull(stream_);
  d_weights_.compute(stream_, d_weights);
  if (d_x_) d_x_->compute(stream_, d_x);
}

}  // namespace dts::train
