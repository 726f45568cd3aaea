// SPDX-License-Identifier: Apache-2.0
// Measurements between ranks. The functions are collective. If a rank no longer answers, they
// return after adding a note, and Links::broken() is true.
#pragma once

#include "core/train/bench/facts.hpp"
#include "core/train/bench/options.hpp"
#include "core/train/comm/links.hpp"

#include <functional>
#include <vector>

namespace dts::train::bench {

// `alive` has the ranks that take part, in ascending order: rank 0, this one, and others.
struct Between {
  Links& links;
  const BenchOptions& options;
  std::vector<int> alive;
  std::function<void(const std::string&)> report_phase;
  // Whether some machine has more ranks than processors: simultaneous pairs would disturb each
  // other.
  bool crowded = false;
};

// The offset of each rank's clock from rank 0's, measured with the shortest of 20 round trips.
void measure_clock(const Between& between, RankFacts& facts);

// Latency and bandwidth of every pair of ranks. All pairs of a round run at once unless `crowded`.
// The lower rank of a pair adds the result to its facts.
void measure_pairs(const Between& between, RankFacts& facts);

// For each operation, a series of sizes up to `most` bytes, on all ranks. The result is only on
// rank 0.
[[nodiscard]] std::vector<CollectiveFact> measure_collectives(const Between& between,
                                                              std::size_t most,
                                                              RankFacts& facts);

}  // namespace dts::train::bench
