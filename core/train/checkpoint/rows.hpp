// SPDX-License-Identifier: Apache-2.0
// The state as a sequence of tensor rows, in the order and layout of the files. Pure.
//
// A row belongs to one index of a tensor's first dimension. Shares of the state are cut between
// rows, so that each rank's file has whole rows of tensors, which any reader of safetensors can
// reassemble.
#pragma once

#include "core/train/checkpoint/state.hpp"

#include <cstddef>
#include <string>
#include <vector>

namespace dts::train {

// Rows [first, first + count) of a tensor. Refers to a tensor of the Layout that it is made from.
struct Rows {
  enum class Array { weights, momentum, running, ballast };

  std::string name;  // of the tensor in the file, e.g. "momentum.fc1.weight"
  Array array = Array::weights;
  const Tensor* tensor = nullptr;
  std::size_t first = 0;
  std::size_t count = 0;
  std::size_t moment = 0;  // index of the moment for Array::momentum

  // Whether the rows belong to this array of weights or of a moment.
  [[nodiscard]] bool is_of(ArrayOf which) const {
    return which ? array == Array::momentum && moment == *which : array == Array::weights;
  }

  [[nodiscard]] std::size_t all() const { return static_cast<std::size_t>(tensor->shape.front()); }

  [[nodiscard]] std::size_t row_floats() const { return tensor->count / all(); }

  [[nodiscard]] std::size_t floats() const { return count * row_floats(); }

  [[nodiscard]] std::vector<std::size_t> shape() const;  // of only these rows

  // Their range in the flat array of all parameters, statistics or ballast.
  [[nodiscard]] Range range() const {
    const std::size_t begin = tensor->offset + first * row_floats();
    return {begin, begin + floats()};
  }
};

// All rows of every tensor: "model.*"; for each moment of the optimiser "momentum.*", or the
// moment's name; "running.*"; and "ballast" if there is any.
[[nodiscard]] std::vector<Rows> all_rows(const Layout& layout);

// The `part`-th of `parts` contiguous shares, whose sizes differ by at most about one row.
[[nodiscard]] std::vector<Rows> share_of(const Layout& layout, int parts, int part);

enum class ColumnOrder {
  pytorch,   // [channel][pixel], as PyTorch's flatten() makes it
  internal,  // [channel / 16][pixel][channel % 16]: files of format 1
};

// Which shares contain rows of a run of the weights or of a moment.
class Shares {
 public:
  Shares(const Layout& layout, int parts);

  [[nodiscard]] bool has(int part, ArrayOf array, Range run) const {
    const Range& range = ranges_[static_cast<std::size_t>(part)][array ? 1 + *array : 0];
    return run.begin < range.end && range.begin < run.end;
  }

 private:
  std::vector<std::vector<Range>> ranges_;  // by part: of the weights, then of each moment
};

// Copies rows to `to` [rows.floats()], in PyTorch's order of columns.
void copy_out(const State& state, const Rows& rows, float* to);

// Copies floats of `run`, a range of a flat array that begins at `from`, to their places in `to`
// [rows.floats()], as far as they belong to `rows`, in the same order of columns. Runs may begin
// and end within rows.
void copy_out(const float* from, Range run, const Rows& rows, float* to);

// Copies rows from `from` [rows.floats()], whose columns are in `order`.
void copy_in(const float* from, ColumnOrder order, const Rows& rows, State& state);

}  // namespace dts::train
