// SPDX-License-Identifier: Apache-2.0
#include "core/train/bench/cpus.hpp"
#include "core/train/bench/measures.hpp"
#include "core/train/bench/timing.hpp"
#include "core/train/device/measured_loops.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace dts::train::bench {

void measure_cores(const BenchOptions& options, double seconds, RankFacts& facts) {
  static constexpr std::uint64_t k_additions = 3 << 20;  // 1 ms at 3 GHz
  const std::vector<int> cores = own_cores();
  facts.cpu = processor_model();
  facts.cores = static_cast<int>(cores.size());
  facts.add("cores", facts.cores, "");
  const double quota = cpu_quota();
  if (quota > 0 && quota < facts.cores)
    facts.notes.push_back(
        fmt::format("control groups allow {:.2f} processors on {} cores", quota, facts.cores));
  const double stolen = options.injection("slow", 0) != nullptr ? 0.2 : 0;
  std::vector<double> clocks(cores.size());
  on_each(cores, stolen, [&](std::size_t i) {
    clocks[i] =
        static_cast<double>(k_additions) / fast_seconds(seconds, [] { add_chain(k_additions); });
  });
  facts.add("clock", median(clocks), "Hz");
  facts.add("clock_slowest", *std::min_element(clocks.begin(), clocks.end()), "Hz");
}

}  // namespace dts::train::bench
