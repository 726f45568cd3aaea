// SPDX-License-Identifier: Apache-2.0
// Matrix products as plain loops.
#include "tests/support/host_products.hpp"

#include "core/train/accelerator/kernels/columns.hpp"
#include "core/train/accelerator/kernels/rounding.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <utility>
#include <vector>

namespace host_device {
namespace {

// Rounded to 10 bits of fraction, to nearest, ties to even, as a device may do.
float in_tf32(float value) {
  auto bits = std::bit_cast<std::uint32_t>(value);
  if ((bits & 0x7F800000U) == 0x7F800000U) return value;
  bits += 0xFFFU + ((bits >> 13) & 1U);
  return std::bit_cast<float>(bits & ~0x1FFFU);
}

float widened(const void* values, std::int64_t place) {
  return std::bit_cast<float>(
      static_cast<std::uint32_t>(static_cast<const std::uint16_t*>(values)[place]) << 16);
}

// A value that is added to a product; `values` may be nullptr.
float given(const dttrain_product& p, const void* values, std::int64_t place) {
  if (values == nullptr) return 0;
  return p.rounds != 0 ? widened(values, place) : static_cast<const float*>(values)[place];
}

void put(const dttrain_product& p, void* to, std::int64_t place, float value) {
  if (p.rounds != 0)
    static_cast<std::uint16_t*>(to)[place] = dts::train::accelerator::rounded_to_bf16(value);
  else
    static_cast<float*>(to)[place] = value;
}

// Stores `sum` at one place.
void finish(const dttrain_product& p, std::int64_t place, float sum) {
  switch (p.curve) {
    case DTTRAIN_GELU:
      put(p, p.before, place, sum);
      return put(p, p.out, place, sum * dts::train::accelerator::gelu_gate(sum));
    case DTTRAIN_GELU_GRADIENT:
      return put(
          p, p.out, place, sum * dts::train::accelerator::gelu_slope(given(p, p.before, place)));
    default:
      return put(p, p.out, place, sum);
  }
}

float at(const dttrain_factor& factor, int factors, int matrix, int row, int column) {
  if (factor.is_transposed != 0) std::swap(row, column);
  const std::int64_t place =
      matrix * factor.stride + static_cast<std::int64_t>(row) * factor.pitch + column;
  if (factors == DTTRAIN_BF16) return widened(factor.values, place);
  const float value = static_cast<const float*>(factor.values)[place];
  return factors == DTTRAIN_TF32 ? in_tf32(value) : value;
}

// Adds up the columns of the output, in runs of rows.
void add_columns(const dttrain_product& p) {
  const dts::train::accelerator::Columnwise all{p.rows, p.columns, p.sum_rows};
  for (int run = 0; run < all.runs(); ++run)
    for (int c = 0; c < p.columns; ++c) {
      double sum = 0;
      for (int r = run * all.rows_each; r < std::min((run + 1) * all.rows_each, p.rows); ++r)
        sum += given(p, p.out, static_cast<std::int64_t>(r) * p.pitch + c);
      p.sums[run * p.columns + c] = static_cast<float>(sum);
    }
}

}  // namespace

void multiply_now(const dttrain_product& p) {
  const auto columns = static_cast<std::size_t>(p.columns);
  std::vector<float> row(columns);
  std::vector<float> right(static_cast<std::size_t>(p.inner) * columns);
  for (int matrix = 0; matrix < p.count; ++matrix) {
    for (int k = 0; k < p.inner; ++k)
      for (int c = 0; c < p.columns; ++c)
        right[static_cast<std::size_t>(k) * columns + static_cast<std::size_t>(c)] =
            at(p.right, p.factors, matrix, k, c);
    for (int r = 0; r < p.rows; ++r) {
      std::fill(row.begin(), row.end(), 0.0F);
      for (int k = 0; k < p.inner; ++k) {
        const float left = at(p.left, p.factors, matrix, r, k);
        const float* const along = right.data() + static_cast<std::size_t>(k) * columns;
        for (std::size_t c = 0; c < columns; ++c) row[c] += left * along[c];
      }
      const std::int64_t begin = matrix * p.stride + static_cast<std::int64_t>(r) * p.pitch;
      for (int c = 0; c < p.columns; ++c)
        finish(
            p,
            begin + c,
            row[static_cast<std::size_t>(c)] + given(p, p.plus, begin + c) + given(p, p.bias, c));
    }
  }
  if (p.sums != nullptr) add_columns(p);
}

}  // namespace host_device
