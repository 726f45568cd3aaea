// SPDX-License-Identifier: Apache-2.0
// The state as one sequence of tensor rows, in the order and layout of the files. Pure.
//
// A row is what belongs to one index of a tensor's first dimension. Shares of the state are cut
// between rows, so that each rank's file has whole rows of tensors that any reader of safetensors
// can put together again.
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
  std::size_t moment = 0;  // of Array::momentum: which one

  // Whether they are of the weights or a moment, and of these.
  [[nodiscard]] bool is_of(ArrayOf which) const {
    return which ? array == Array::momentum && moment == *which : array == Array::weights;
  }

  [[nodiscard]] std::size_t all() const { return static_cast<std::size_t>(tensor->shape.front()); }

  [[nodiscard]] std::size_t row_floats() const { return tensor->count / all(); }

  [[nodiscard]] std::size_t floats() const { return count * row_floats(); }

  [[nodiscard]] std::vector<std::size_t> shape() const;  // of these rows alone

  // Where they are in the flat array of all parameters, statistics or ballast.
  [[nodiscard]] Range range() const {
    const std::size_t begin = tensor->offset + first * row_floats();
    return {begin, begin + floats()};
  }
};

// Every tensor with all its rows: "model.*", for each of the optimiser's moments "momentum.*" or
// what it is called, "running.*", and "ballast" if there is any.
[[nodiscard]] std::vector<Rows> all_rows(const Layout& layout);

// The `part`-th of `parts` contiguous shares: equal in bytes up to one row.
[[nodiscard]] std::vector<Rows> share_of(const Layout& layout, int parts, int part);

enum class ColumnOrder {
  pytorch,   // [channel][pixel], which PyTorch's flatten() gives
  internal,  // [channel / 16][pixel][channel % 16]: files of format 1
};

// Which shares have rows of a run of the weights or of a moment.
class Shares {
 public:
  Shares(const Layout& layout, int parts);

  [[nodiscard]] bool has(int part, ArrayOf array, Range run) const {
    const Range& range = ranges_[static_cast<std::size_t>(part)][array ? 1 + *array : 0];
    return run.begin < range.end && range.begin < run.end;
  }

 private:
  std::vector<std::vector<Range>> ranges_;  // of each part, for the weights and each moment
};

// Copies rows to `to` [rows.floats()], in PyTorch's order of columns.
void copy_out(const State& state, const Rows& rows, float* to);

// Of the rows that lie in `run` of their flat array, whose floats are `from`, copies what belongs
// to `rows` to its place in `to` [rows.floats()], as above. Runs need not end where rows do.
void copy_out(const float* from, Range run, const Rows& rows, float* to);

// Copies rows from `from` [rows.floats()], whose columns are in `order`.
void copy_in(const float* from, ColumnOrder order, const Rows& rows, State& state);

}  // namespace dts::train
