// SPDX-License-Identifier: Apache-2.0
// The sweep of nccl-tests, with its columns.
#include "core/train/bench/between.hpp"
#include "core/train/bench/timing.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

namespace dts::train::bench {
namespace {

struct Column {
  const char* name;
  Operation operation;
};

constexpr Column k_columns[] = {{"all_reduce", Operation::all_reduce},
                                {"all_gather", Operation::all_gather},
                                {"broadcast", Operation::broadcast}};

class Sweep {
 public:
  Sweep(const Between& between, std::size_t most)
      : between_(between),
        most_(most),
        deadline_(Clock::now() + std::chrono::seconds(between.options.quick ? 20 : 90)) {}

  // False if a rank does not answer.
  bool measure(const Column& column, std::vector<CollectiveFact>& facts) {
    const std::size_t factor = between_.options.quick ? 8 : 2;
    const double budget = between_.options.quick ? 0.15 : 2.0;
    double spent = 0;
    for (std::size_t wanted = 8; wanted <= most_; wanted *= factor) {
      const std::size_t bytes = divisible(column.operation, wanted);
      const auto once = slowest(column.operation, bytes, 1);  // warms up, too
      if (!once) return false;
      // Every rank has the same numbers, and so makes the same decision.
      const double left = std::max(0.0, budget - spent);
      const auto count = static_cast<int>(std::clamp(left / 20 / *once, 1.0, 50.0));
      const auto time = slowest(column.operation, bytes, count);
      if (!time) return false;
      facts.push_back({column.name, bytes, *time});
      spent += *once + *time * count;
      if (spent + 2 * *time * static_cast<double>(factor) > budget && spent > budget / 4) break;
    }
    return true;
  }

 private:
  // As nccl-tests rounds: to a whole number of floats per rank.
  [[nodiscard]] std::size_t divisible(Operation operation, std::size_t bytes) const {
    if (operation != Operation::all_gather) return bytes;
    const std::size_t unit = sizeof(float) * static_cast<std::size_t>(between_.links.size());
    return std::max(unit, bytes / unit * unit);
  }

  // The seconds of one operation on the slowest rank: the mean of a series, and the best of up to
  // five series, because a single mean includes the load of other programs.
  [[nodiscard]] std::optional<double> slowest(Operation operation, std::size_t bytes, int count) {
    const int series = std::min(count, 5);
    double best = 0;
    for (int i = 0; i < series; ++i) {
      const Clock::time_point start = Clock::now();
      for (int j = 0; j < count / series; ++j)
        if (!between_.links.run(operation, bytes, deadline_)) return std::nullopt;
      const double mean = seconds_since(start) / (count / series);
      best = i == 0 ? mean : std::min(best, mean);
    }
    const auto all = between_.links.gather(best, deadline_);
    if (!all) return std::nullopt;
    return std::max(*std::max_element(all->begin(), all->end()), 1e-9);
  }

  const Between& between_;
  std::size_t most_;
  Links::Deadline deadline_;
};

}  // namespace

std::vector<CollectiveFact> measure_collectives(const Between& between,
                                                std::size_t most,
                                                RankFacts& facts) {
  std::vector<CollectiveFact> found;
  between.report_phase("collectives");
  Sweep sweep(between, most);
  for (const Column& column : k_columns) {
    if (sweep.measure(column, found)) continue;
    facts.notes.push_back(fmt::format("collectives: a rank does not answer in {}", column.name));
    break;
  }
  return between.links.rank() == 0 ? found : std::vector<CollectiveFact>();
}

}  // namespace dts::train::bench
