// SPDX-License-Identifier: Apache-2.0
// What is measured between ranks. Collective functions; one that a rank no longer answers in ends
// with a note, and Links::broken() is true then.
#pragma once

#include "core/train/bench/facts.hpp"
#include "core/train/bench/options.hpp"
#include "core/train/comm/links.hpp"

#include <functional>
#include <vector>

namespace dts::train::bench {

// `alive` are the ranks that take part, in order, with rank 0; this one is among them.
struct Between {
  Links& links;
  const BenchOptions& options;
  std::vector<int> alive;
  std::function<void(const std::string&)> says;
  // Some machine has more ranks than processors: pairs that ran at once would measure each other.
  bool crowded = false;
};

// Each rank's clock against that of rank 0, the least round trip of 20.
void measure_clock(const Between& between, RankFacts& facts);

// Latency and bandwidth of every pair of ranks, all pairs of a round at once unless it is crowded;
// the lower rank of a pair has the result.
void measure_pairs(const Between& between, RankFacts& facts);

// All ranks: a sweep over sizes of each operation, `most` bytes at the end. Only rank 0 returns
// something.
[[nodiscard]] std::vector<CollectiveFact> measure_collectives(const Between& between,
                                                              std::size_t most,
                                                              RankFacts& facts);

}  // namespace dts::train::bench
