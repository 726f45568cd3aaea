// SPDX-License-Identifier: Apache-2.0
#include "core/train/bench/cpus.hpp"
#include "core/train/bench/measures.hpp"
#include "core/train/bench/timing.hpp"
#include "core/train/device/measured_loops.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace dts::train::bench {

void measure_cores(const BenchOptions& options, double seconds, RankFacts& facts) {
  static constexpr std::uint64_t k_additions = 3 << 17;  // 0.13 ms at 3 GHz
  const std::vector<int> cores = own_cores();
  facts.cpu = processor_model();
  facts.cores = static_cast<int>(cores.size());
  facts.add("cores", is_limited() ? cpu_quota() : facts.cores, "");
  if (is_limited())
    facts.notes.push_back(fmt::format(
        "control groups allow {:.2f} processors on {} cores", cpu_quota(), facts.cores));
  const double stolen = options.injection("slow", 0) != nullptr ? 0.2 : 0;
  std::vector<double> clocks(cores.size());
  const double others = on_each(cores, [&](std::size_t i) {
    const Timed timed = fast_seconds(seconds, stolen, [] { add_chain(k_additions); });
    clocks[i] = per_second(k_additions, timed.seconds);
    return timed.spent;
  });
  if (std::count(clocks.begin(), clocks.end(), 0.0) > 0)
    return facts.notes.push_back("the clock rate is not known: " + taken(others));
  facts.add("clock", median(clocks), "Hz", others);
  facts.add("clock_slowest", *std::min_element(clocks.begin(), clocks.end()), "Hz", others);
}

}  // namespace dts::train::bench
