// SPDX-License-Identifier: Apache-2.0
#include "plugins/cuda/product_kernels.hpp"

#include "core/train/accelerator/kernels/kernel_list.hpp"
#include "plugins/cuda/context.hpp"

namespace {

using namespace dts::train::accelerator;

template <class Kernel>
const char* launch(dttrain_context* context, const Kernel& kernel) {
  return cuda_launch(context, Kernels::number_of<Kernel>(), &kernel);
}

template <class Factors, class Value>
const char* multiply(dttrain_context* context, const dttrain_product& p) {
  Multiply<Factors, Value> kernel;
  kernel.product = p;
  return launch(context, kernel);
}

template <class Value>
const char* curve(dttrain_context* context, const dttrain_product& p) {
  const std::size_t count = row_begin(static_cast<std::size_t>(p.rows), p.columns);
  auto* const before = static_cast<Value*>(p.before);
  auto* const out = static_cast<Value*>(p.out);
  if (p.curve == DTTRAIN_GELU) return launch(context, GeluForward<Value>{{count}, before, out});
  if (p.sums == nullptr) return launch(context, GeluBackward<Value>{{count}, before, out, out});
  const Columnwise rows{p.rows, p.columns, p.sum_rows};
  return launch(context, GeluBackwardSums<Value>{rows, before, out, out, p.sums});
}

}  // namespace

dttrain_product straight(dttrain_product p) {
  if (p.curve == DTTRAIN_GELU) p.out = p.before;
  p.curve = DTTRAIN_STRAIGHT;
  p.before = nullptr;
  return p;
}

const char* cuda_multiply_by_kernel(dttrain_context* context, const dttrain_product& p) {
  if (p.factors != DTTRAIN_BF16) return multiply<PlainFactors, float>(context, p);
  return p.rounds != 0 ? multiply<TensorFactors, Bfloat>(context, p)
                       : multiply<TensorFactors, float>(context, p);
}

const char* cuda_curve(dttrain_context* context, const dttrain_product& p) {
  return p.rounds != 0 ? curve<Bfloat>(context, p) : curve<float>(context, p);
}

const char* cuda_add_columns(dttrain_context* context, const dttrain_product& p) {
  if (p.sums == nullptr) return nullptr;
  const Columnwise rows{p.rows, p.columns, p.sum_rows};
  return launch(context, ColumnSums<Bfloat>{rows, static_cast<Bfloat*>(p.out), p.sums});
}
