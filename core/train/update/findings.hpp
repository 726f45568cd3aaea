// SPDX-License-Identifier: Apache-2.0
// Bits that are not what they were or should be: what a rank has found, and which rank is to blame.
// Pure, thread-safe.
#pragma once

#include "core/train/comm/hierarchy.hpp"
#include "core/train/update/chunk_grid.hpp"

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace dts::train {

enum class Found : std::int32_t {
  none,
  weights,     // this rank's copy is not what its owner computed
  momentum,    // of its own slice: not what it wrote in the step before
  gradient,    // sums of its own: not what it had computed
  message,     // sums of `peer`, for the slice of this rank: not what `peer` had computed
  statistics,  // running statistics of this rank: not those of the majority
  answer,      // weights of `peer`, a server: not what it had sent
};

// Plain data, sent between ranks.
struct Finding {
  Found what = Found::none;
  std::int32_t rank = 0;  // that found it
  std::int32_t peer = 0;  // for weights their owner
  Span chunks{};
  std::array<char, 64> node{};  // of `rank`

  void set_node(const std::string& name);
};

// Who is to blame and for what, in words.
struct Blame {
  int rank = -1;  // -1: two ranks or what is between them
  std::string what;
};

// Every rank comes to the same from the findings of all. The majority decides: if all of those who
// have them from their owner find that its weights differ, it is that owner. If some do and handed
// them on, the others of their nodes are not to blame. A message that arrived changed is its
// sender's fault if that one has found its own sums changed.
[[nodiscard]] std::vector<Blame> judge(const ChunkGrid& grid,
                                       const Hierarchy& hierarchy,
                                       const std::vector<Finding>& findings);

// The ranks whose value is not that of the majority; all of them if there is none.
[[nodiscard]] std::vector<int> odd_ones(const std::vector<std::uint64_t>& values);

}  // namespace dts::train
