// SPDX-License-Identifier: Apache-2.0
// Finds the first difference between two states. Pure.
#pragma once

#include "core/train/checkpoint/state.hpp"

#include <cstddef>
#include <optional>
#include <string>

namespace dts::train {

inline constexpr std::size_t k_chunk = 1024;  // elements of a tensor that are reported together

// Elements are numbered as in the tensor's file in a checkpoint, row-major.
struct ChunkDifference {
  std::string tensor;     // "model.fc1.weight", "momentum.fc1.weight"
  std::size_t begin = 0;  // of the chunk
  std::size_t end = 0;
  std::size_t count = 0;    // number of its elements that differ
  std::size_t element = 0;  // the first of them
  float there = 0;
  float here = 0;
};

struct TensorDifferences {
  std::size_t tensors = 0;
  std::size_t differ = 0;
  std::optional<ChunkDifference> first;  // in the order of all_rows()
};

// Whether states of the two layouts can be compared: they have the same tensors and shapes.
[[nodiscard]] bool are_alike(const Layout& a, const Layout& b);

// Compares bits; both states must have this layout.
[[nodiscard]] TensorDifferences compare_tensors(const Layout& layout,
                                                const State& there,
                                                const State& here);

}  // namespace dts::train
