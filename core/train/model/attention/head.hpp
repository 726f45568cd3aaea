// SPDX-License-Identifier: Apache-2.0
// The units of attention's work: some rows of one head of one sample.
#pragma once

#include "core/train/model/gemm.hpp"
#include "core/train/model/token_blocks.hpp"

namespace dts::train {

inline constexpr int k_rows_at_a_time = 64;  // number of queries

// One head of queries of one sample, and the keys and values that serve it, from position 0 on.
struct Head {
  Edge queries, keys, values, out;
  bool is_first = true;  // the first of the heads that these keys serve
  bool is_last = true;
};

// Some rows of a head.
struct Part {
  int first = 0;  // position of the first row
  int rows = 0;
  int columns = 0;       // number of positions that the last row sees
  std::size_t kept = 0;  // index of the first row's maximum and inverse sum
};

[[nodiscard]] inline int out_pitch(const Attention& shape) {
  return shape.queries.count * shape.width;
}

// Calls visit with the offset of each of `rows` rows in an array with that pitch, and in one
// without gaps.
template <class Visit>
void for_each_row(int rows, int pitch, int width, const Visit& visit) {
  for (int row = 0; row < rows; ++row) visit(area(row, pitch), area(row, width));
}

}  // namespace dts::train
