// SPDX-License-Identifier: Apache-2.0
#include "core/train/accelerator/products.hpp"

#include <algorithm>
#include <iterator>
#include <stdexcept>
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

Bfloat* Products::keep_copy(const float* values, std::size_t count) {
  if (!rounds()) return nullptr;
  Copy& copy = copies_[values];
  if (copy.to == nullptr) copy = {count, queue_.allocate<Bfloat>(count)};
  if (copy.count != count) throw std::logic_error("two copies of one array, of two sizes");
  return copy.to;
}

void Products::keep_rounded(float* values, std::size_t count) {
  if (!rounds()) return;
  Copy& copy = copies_[values];
  if (copy.to != nullptr && !copy.is_all)
    throw std::logic_error("an array of floats with a copy, and without floats");
  copy = {std::max(copy.count, count), reinterpret_cast<Bfloat*>(values), true};
}

const std::pair<const float* const, Products::Copy>* Products::copy_of(const float* value) const {
  const auto after = copies_.upper_bound(value);
  if (after == copies_.begin()) return nullptr;
  const auto& found = *std::prev(after);
  return static_cast<std::size_t>(value - found.first) < found.second.count ? &found : nullptr;
}

Bfloat* Products::rounded(const float* value) const {
  const auto* const found = copy_of(value);
  return found == nullptr ? nullptr : found->second.to + (value - found->first);
}

void Products::round(const float* values, std::size_t count) {
  constexpr int k_row = 16;
  if (Bfloat* const to = rounded(values))
    queue_.launch(
        RoundMatrices{{count}, static_cast<int>(count / k_row), k_row, k_row, 0, values, to});
}

const void* Products::round_once(const float* values, int rows, int columns) {
  if (!rounds()) return values;
  if (const Bfloat* const already = rounded(values)) return already;
  const std::size_t count = row_begin(static_cast<std::size_t>(rows), columns);
  reserve(count);
  queue_.launch(RoundMatrices{{count}, rows, columns, columns, 0, values, rounded_[2]});
  return rounded_[2];
}

// `rows` and `columns` after any transposition.
void Products::round(dttrain_factor& factor, int rows, int columns, int count, Bfloat* to) {
  if (Bfloat* const copy = rounded(static_cast<const float*>(factor.values))) {
    factor.values = copy;
    return;
  }
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

// What is added to values that are rounded, is as well.
void Products::round_result(dttrain_product& product) const {
  const auto* const out = copy_of(static_cast<const float*>(product.out));
  if (out == nullptr || !out->second.is_all) return;
  product.rounds = 1;
  for (const void** const added : {&product.plus, &product.bias}) {
    if (*added == nullptr) continue;
    *added = rounded(static_cast<const float*>(*added));
    if (*added == nullptr)
      throw std::logic_error("a product that is rounded, with something added that is not");
  }
  product.out = rounded(static_cast<const float*>(product.out));
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
    round_result(product);
  }
  queue_.multiply(product);
}

}  // namespace dts::train::accelerator
