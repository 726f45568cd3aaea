// SPDX-License-Identifier: Apache-2.0
// Measures clock offsets.
#include "core/train/bench/between.hpp"
#include "core/train/bench/clock_offset.hpp"
#include "core/train/bench/timing.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <ctime>

namespace dts::train::bench {
namespace {

std::int64_t wall_clock(const BenchOptions& options, int rank) {
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  const std::int64_t moved = options.injection("clock", rank) != nullptr ? 2 : 0;
  return (now.tv_sec + moved) * 1000000000 + now.tv_nsec;
}

constexpr int k_exchanges = 20;

void answer(const Between& between, int rank, Links::Deadline deadline, RankFacts& facts) {
  for (int i = 0; i < k_exchanges; ++i) {
    if (!between.links.receive<char>(rank, deadline) ||
        !between.links.send(rank, wall_clock(between.options, 0), deadline)) {
      facts.notes.push_back(fmt::format("clock: rank {} does not answer", rank));
      return;
    }
  }
}

void ask(const Between& between, Links::Deadline deadline, RankFacts& facts) {
  const int rank = between.links.rank();
  std::vector<ClockExchange> exchanges;
  while (exchanges.size() < k_exchanges) {
    ClockExchange exchange;
    exchange.asked = wall_clock(between.options, rank);
    const bool sent = between.links.send(0, 'c', deadline);
    const auto answered = sent ? between.links.receive<std::int64_t>(0, deadline) : std::nullopt;
    exchange.received = wall_clock(between.options, rank);
    if (!answered) {
      facts.notes.emplace_back("clock: rank 0 does not answer");
      break;
    }
    exchange.answered = *answered;
    exchanges.push_back(exchange);
  }
  if (const auto offset = clock_offset(exchanges)) facts.add("clock_offset", *offset, "s");
}

}  // namespace

void measure_clock(const Between& between, RankFacts& facts) {
  constexpr std::chrono::seconds k_each(5);
  const auto start = Clock::now();
  const auto place = std::find(between.alive.begin(), between.alive.end(), between.links.rank());
  const auto before = static_cast<int>(place - between.alive.begin());
  if (before > 0) return ask(between, start + k_each * (before + 1), facts);
  int asked = 0;
  for (const int rank : between.alive)
    if (rank != 0) answer(between, rank, start + k_each * ++asked, facts);
}

}  // namespace dts::train::bench
