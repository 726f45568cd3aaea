// SPDX-License-Identifier: Apache-2.0
// Wrong bits: what a rank has found, and which rank is to blame.
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
  weights,     // this rank's copy differs from what its owner computed
  momentum,    // of its own slice: differs from what it wrote in the step before
  gradient,    // sums of its own: differ from what it computed
  message,     // sums from `peer` for this rank's slice: differ from what `peer` computed
  statistics,  // running statistics of this rank: differ from the majority's
  answer,      // weights from `peer`, a server: differ from what it sent
};

// Plain data, sent between ranks.
struct Finding {
  Found what = Found::none;
  std::int32_t rank = 0;  // the rank that found it
  std::int32_t peer = 0;  // the sender, or for weights their owner
  Span chunks{};
  std::array<char, 64> node{};  // name of the node of `rank`

  void set_node(const std::string& name);
};

// Who is to blame, and for what, in words for users.
struct Blame {
  int rank = -1;  // -1: two ranks or the link between them
  std::string what;
};

// Decides who is to blame; a pure function of all ranks' findings, so that every rank gets the same
// result. The majority decides: if all ranks that received weights directly from their owner find
// that they differ, the owner is to blame. If a rank passed on wrong weights within its node, the
// ranks that got them from it are not to blame. If a message arrived changed and its sender finds
// its own sums changed, the sender is to blame.
[[nodiscard]] std::vector<Blame> judge(const ChunkGrid& grid,
                                       const Hierarchy& hierarchy,
                                       const std::vector<Finding>& findings);

// The ranks whose value differs from that of the majority; all ranks if there is no majority.
[[nodiscard]] std::vector<int> odd_ones(const std::vector<std::uint64_t>& values);

}  // namespace dts::train
