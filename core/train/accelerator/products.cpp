// SPDX-License-Identifier: Apache-2.0
#include "core/train/accelerator/products.hpp"

#include <algorithm>
#include <iterator>
#include <stdexcept>
#include <utility>

namespace dts::train::accelerator {

void Products::reserve(Place place, std::size_t values) {
  Room& all = room(place);
  if (!rounds() || values <= all.values) return;
  if (all.at != nullptr) queue_.release(all.at);
  all = {};  // allocate() may throw
  all = {values, queue_.allocate<Bfloat>(values)};
}

Bfloat* Products::keep_copy(const float* values, std::size_t count) {
  if (!rounds()) return nullptr;
  Copy& copy = copies_[values];
  if (copy.to == nullptr) copy = {count, queue_.allocate<Bfloat>(count)};
  if (copy.count != count) throw std::logic_error("two copies of one array, of two sizes");
  return copy.to;
}

void Products::share_copy(const float* values, const float* first) {
  if (rounds()) copies_[values] = copies_.at(first);
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
  if (Bfloat* const to = rounded(values)) queue_.launch(Round{{count}, values, to});
}

void Products::launch_rounding(const RoundMatrices& matrices) {
  const std::size_t area = row_begin(static_cast<std::size_t>(matrices.rows), matrices.columns);
  const bool has_gaps =
      matrices.pitch != matrices.columns ||
      (matrices.count != area && matrices.stride != static_cast<std::int64_t>(area));
  if (has_gaps)
    queue_.launch(matrices);
  else
    queue_.launch(Round{{matrices.count}, matrices.from, matrices.to});
}

dttrain_factor Products::round_once(const float* values, int rows, int columns, int pitch) {
  if (!rounds()) return {values, pitch, 0, 0};
  if (const Bfloat* const already = rounded(values)) return {already, pitch, 0, 0};
  const std::size_t count = row_begin(static_cast<std::size_t>(rows), columns);
  reserve(Place::once, count);
  Bfloat* const to = room(Place::once).at;
  launch_rounding({{count}, rows, columns, pitch, 0, values, to});
  return {to, columns, 0, 0};
}

// `rows` and `columns` are the sizes after any transposition.
void Products::round(dttrain_factor& factor, int rows, int columns, int count, Place place) {
  if (Bfloat* const copy = rounded(static_cast<const float*>(factor.values))) {
    factor.values = copy;
    return;
  }
  if (factor.is_transposed != 0) std::swap(rows, columns);
  const std::size_t area = static_cast<std::size_t>(rows) * static_cast<std::size_t>(columns);
  const std::size_t values = static_cast<std::size_t>(count) * area;
  reserve(place, values);
  Bfloat* const to = room(place).at;
  launch_rounding({{values},
                   rows,
                   columns,
                   factor.pitch,
                   factor.stride,
                   static_cast<const float*>(factor.values),
                   to});
  factor = {to, columns, factor.is_transposed, static_cast<std::int64_t>(area)};
}

Bfloat* Products::rounded_in_place(const float* at) const {
  if (at == nullptr) return nullptr;
  const auto* const found = copy_of(at);
  if (found == nullptr || !found->second.is_all)
    throw std::logic_error("an array of floats where one of rounded values should be");
  return rounded(at);
}

// If the output is rounded, the arrays that are added to it must be, too.
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
  product.before = rounded_in_place(static_cast<const float*>(product.before));
  product.out = rounded(static_cast<const float*>(product.out));
}

void Products::multiply(dttrain_product product, Rounded rounded) {
  if (precision_ == Precision::tf32) product.factors = DTTRAIN_TF32;
  if (rounds()) {
    if (!rounded.left) round(product.left, product.rows, product.inner, product.count, Place::left);
    if (!rounded.right)
      round(product.right, product.inner, product.columns, product.count, Place::right);
    product.factors = DTTRAIN_BF16;
    round_result(product);
  }
  queue_.multiply(product);
}

}  // namespace dts::train::accelerator
