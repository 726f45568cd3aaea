// SPDX-License-Identifier: Apache-2.0
#include "core/train/accelerator/products.hpp"

#include <utility>

namespace dts::train::accelerator {

void Products::reserve(std::size_t values) {
  if (!rounds() || values <= room_) return;
  for (Bfloat*& at : rounded_) {
    if (at != nullptr) queue_.release(at);
    at = nullptr;  // allocate() may throw
    at = queue_.allocate<Bfloat>(values);
  }
  room_ = values;
}

// `rows` and `columns` after any transposition.
void Products::round(dttrain_factor& factor, int rows, int columns, int count, Bfloat* to) {
  if (factor.is_transposed != 0) std::swap(rows, columns);
  const std::size_t area = static_cast<std::size_t>(rows) * static_cast<std::size_t>(columns);
  queue_.launch(RoundMatrices{{static_cast<std::size_t>(count) * area},
                              rows,
                              columns,
                              factor.pitch,
                              factor.stride,
                              static_cast<const float*>(factor.values),
                              to});
  factor = {to, columns, factor.is_transposed, static_cast<std::int64_t>(area)};
}

void Products::multiply(dttrain_product product, Rounded rounded) {
  if (precision_ == Precision::tf32) product.factors = DTTRAIN_TF32;
  if (rounds()) {
    const auto all = [&](int rows, int columns) {
      return static_cast<std::size_t>(product.count) * static_cast<std::size_t>(rows) *
             static_cast<std::size_t>(columns);
    };
    if (!rounded.left) reserve(all(product.rows, product.inner));
    if (!rounded.right) reserve(all(product.inner, product.columns));
    if (!rounded.left) round(product.left, product.rows, product.inner, product.count, rounded_[0]);
    if (!rounded.right)
      round(product.right, product.inner, product.columns, product.count, rounded_[1]);
    product.factors = DTTRAIN_BF16;
  }
  queue_.multiply(product);
}

}  // namespace dts::train::accelerator
