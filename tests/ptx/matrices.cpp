// SPDX-License-Identifier: Apache-2.0
#include "tests/ptx/matrices.hpp"

#include <bit>
#include <cstddef>

namespace ptx {
namespace {

// A value of two in a word.
double value_of(std::uint32_t word, int half) {
  return std::bit_cast<float>(half == 0 ? word << 16 : word & 0xffff0000U);
}

std::uint32_t word_of(const Fragments& fragments, int lane, int word) {
  return fragments[static_cast<std::size_t>(lane)][static_cast<std::size_t>(word)];
}

// a0 and a1 are in rows lane / 4 and columns lane % 4 * 2 + (i & 1) of their thread, a2 and a3
// eight rows below, a4 and a5 eight columns to the right, a6 and a7 both; two of them share a word.
double left(const Fragments& fragments, int row, int column) {
  const int lane = row % 8 * 4 + column % 8 / 2;
  return value_of(word_of(fragments, lane, row / 8 + column / 8 * 2), column % 2);
}

// b0 and b1 are in column lane / 4 and rows lane % 4 * 2 + (i & 1), b2 and b3 eight rows below.
double right(const Fragments& fragments, int row, int column) {
  const int lane = column * 4 + row % 8 / 2;
  return value_of(word_of(fragments, lane, 4 + row / 8), row % 2);
}

}  // namespace

std::uint32_t loaded_word(const Lines& lines, int lane, int number, bool is_transposed) {
  const auto value = [&](int row, int column) -> std::uint32_t {
    return lines[static_cast<std::size_t>(number * 8 + row)][static_cast<std::size_t>(column)];
  };
  const int line = lane / 4;
  const int pair = lane % 4 * 2;
  return is_transposed ? value(pair, line) | value(pair + 1, line) << 16
                       : value(line, pair) | value(line, pair + 1) << 16;
}

// c0 and c1 are in row lane / 4 and columns lane % 4 * 2 + (i & 1), c2 and c3 eight rows below.
std::uint32_t product_word(const Fragments& fragments, int lane, int number) {
  const int row = lane / 4 + number / 2 * 8;
  const int column = lane % 4 * 2 + number % 2;
  double sum = std::bit_cast<float>(word_of(fragments, lane, 6 + number));
  for (int k = 0; k < 16; ++k) sum += left(fragments, row, k) * right(fragments, k, column);
  return std::bit_cast<std::uint32_t>(static_cast<float>(sum));
}

}  // namespace ptx
