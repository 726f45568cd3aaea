// SPDX-License-Identifier: Apache-2.0
// Where two states differ. Pure.
#pragma once

#include "core/train/checkpoint/state.hpp"

#include <cstddef>
#include <optional>
#include <string>

namespace dts::train {

inline constexpr std::size_t k_chunk = 1024;  // elements of a tensor that are told of together

// Elements are those of the tensor in a checkpoint's file, row-major.
struct ChunkDifference {
  std::string tensor;     // "model.fc1.weight", "momentum.fc1.weight"
  std::size_t begin = 0;  // of the chunk
  std::size_t end = 0;
  std::size_t count = 0;    // elements of it that differ
  std::size_t element = 0;  // the first one
  float there = 0;
  float here = 0;
};

struct TensorDifferences {
  std::size_t tensors = 0;
  std::size_t differ = 0;
  std::optional<ChunkDifference> first;  // in the order of all_rows()
};

// Whether states of the two can be compared: the same tensors, with the same shapes.
[[nodiscard]] bool are_alike(const Layout& a, const Layout& b);

// Bit by bit; both states have this layout.
[[nodiscard]] TensorDifferences compare_tensors(const Layout& layout,
                                                const State& there,
                                                const State& here);

}  // namespace dts::train
