// SPDX-License-Identifier: Apache-2.0
// Clock offsets, and the tournament of pairs.
#include "core/train/bench/between.hpp"
#include "core/train/bench/clock_offset.hpp"
#include "core/train/bench/timing.hpp"
#include "core/train/bench/tournament.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <ctime>
#include <utility>
#include <vector>

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

constexpr std::size_t k_probe = 65536;  // bytes, to see how slow a link is

// One pair, as the rank that leads and as the one that follows. `bytes` a message.
class PairTimer {
 public:
  PairTimer(Links& links, int peer, Links::Deadline deadline)
      : links_(links), peer_(peer), deadline_(deadline) {}

  // Half of a fast round trip; nullopt if the peer does not answer. Takes about `budget` seconds,
  // the peer follows (follow()).
  std::optional<double> lead(std::size_t bytes, double budget) {
    // Enough that one of ten is not by chance the only one that was left alone, as far as a slow
    // link has time for them.
    constexpr double k_most = 200, k_enough = 20, k_patience = 0.5;
    const Clock::time_point start = Clock::now();
    const int warm = warm_up(bytes);
    for (int i = 0; i < warm; ++i)
      if (!links_.ping_pong(peer_, bytes, true, deadline_)) return std::nullopt;
    const double one = std::max(seconds_since(start) / warm, 1e-7);
    const double least = std::clamp(k_patience / one, 3.0, k_enough);
    const auto count = static_cast<std::uint64_t>(std::clamp(budget / one, least, k_most));
    if (!links_.send(peer_, count, deadline_)) return std::nullopt;
    std::vector<double> trips;
    for (std::uint64_t i = 0; i < count; ++i) {
      const Clock::time_point begin = Clock::now();
      if (!links_.ping_pong(peer_, bytes, true, deadline_)) return std::nullopt;
      trips.push_back(seconds_since(begin));
    }
    return lower_decile(std::move(trips)) / 2;
  }

  bool follow(std::size_t bytes) {
    for (int i = 0; i < warm_up(bytes); ++i)
      if (!links_.ping_pong(peer_, bytes, false, deadline_)) return false;
    const auto count = links_.receive<std::uint64_t>(peer_, deadline_);
    for (std::uint64_t i = 0; count && i < *count; ++i)
      if (!links_.ping_pong(peer_, bytes, false, deadline_)) return false;
    return count.has_value();
  }

 private:
  // Enough for connections to be made, little enough for slow ones.
  static int warm_up(std::size_t bytes) { return bytes < k_probe ? 5 : 1; }

  Links& links_;
  int peer_;
  Links::Deadline deadline_;
};

constexpr std::size_t k_small = 8;

bool follow_pair(Links& links, int peer, PairTimer& timer, Links::Deadline deadline) {
  if (!timer.follow(k_small) || !timer.follow(k_probe)) return false;
  const auto bytes = links.receive<std::uint64_t>(peer, deadline);
  return bytes && timer.follow(*bytes);
}

bool measure_pair(const Between& between, int peer, Links::Deadline deadline, RankFacts& facts) {
  const double budget = between.options.quick ? 0.05 : 0.3;
  const int rank = between.links.rank();
  PairTimer timer(between.links, peer, deadline);
  if (rank > peer) return follow_pair(between.links, peer, timer, deadline);
  const auto latency = timer.lead(k_small, budget);
  if (!latency) return false;
  const auto probe = timer.lead(k_probe, 0);
  if (!probe) return false;
  // On a slow link smaller messages: all of it has to end before the deadline.
  const double affordable = static_cast<double>(k_probe) * budget / *probe;
  const auto bytes =
      static_cast<std::uint64_t>(std::min(static_cast<double>(between.options.pair_bytes),
                                          std::max(affordable, static_cast<double>(k_probe))));
  if (!between.links.send(peer, bytes, deadline)) return false;
  const auto transfer = timer.lead(bytes, budget);
  if (!transfer) return false;
  facts.pairs.push_back({rank, peer, *latency, static_cast<double>(bytes) / *transfer});
  return true;
}

// Where it is crowded, pairs come one after the other: the lower rank of each waits for that of the
// one before, and calls its peer. Otherwise all pairs of a round are at once.
class Turns {
 public:
  Turns(const Between& between, Links::Deadline first) : between_(between), first_(first) {
    if (!between.crowded) return;
    const auto players = static_cast<int>(between.alive.size());
    for (int round = 0; round < tournament_rounds(players); ++round)
      for (int player = 0; player < players; ++player)
        if (opponent(players, round, player) > player) leaders_.push_back({round, player});
  }

  // How many turns have to be over before this pair's begins; waits for that.
  int begin(int round, int player) {
    if (!between_.crowded) return round;
    const int turn = turn_of(round, player);
    const auto at = static_cast<std::size_t>(turn);
    const auto deadline = first_ + length() * turn;
    if (!leads(turn, player)) {
      (void)between_.links.receive<char>(rank_of(turn), deadline);
      return turn;
    }
    if (turn > 0 && leaders_[at - 1].second != player)
      (void)between_.links.receive<char>(rank_of(turn - 1), deadline);
    const int peer = opponent(static_cast<int>(between_.alive.size()), round, player);
    (void)between_.links.send(between_.alive[static_cast<std::size_t>(peer)], 't', deadline);
    return turn;
  }

  void end(int round, int player) {
    if (!between_.crowded) return;
    const int turn = turn_of(round, player);
    const bool is_last = static_cast<std::size_t>(turn) + 1 == leaders_.size();
    if (is_last || !leads(turn, player) || leads(turn + 1, player)) return;
    (void)between_.links.send(rank_of(turn + 1), 't', first_ + length() * (turn + 1));
  }

 private:
  [[nodiscard]] std::chrono::seconds length() const {
    return std::chrono::seconds(between_.options.quick ? 10 : 20);
  }

  [[nodiscard]] int turn_of(int round, int player) const {
    const auto players = static_cast<int>(between_.alive.size());
    const std::pair<int, int> leader{round, std::min(player, opponent(players, round, player))};
    return static_cast<int>(std::find(leaders_.begin(), leaders_.end(), leader) - leaders_.begin());
  }

  [[nodiscard]] bool leads(int turn, int player) const {
    return leaders_[static_cast<std::size_t>(turn)].second == player;
  }

  [[nodiscard]] int rank_of(int turn) const {
    const int player = leaders_[static_cast<std::size_t>(turn)].second;
    return between_.alive[static_cast<std::size_t>(player)];
  }

  const Between& between_;
  Links::Deadline first_;                     // of the first turn
  std::vector<std::pair<int, int>> leaders_;  // round and player, by turn
};

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

void measure_pairs(const Between& between, RankFacts& facts) {
  const std::chrono::seconds each(between.options.quick ? 10 : 20);
  const auto players = static_cast<int>(between.alive.size());
  const auto place = std::find(between.alive.begin(), between.alive.end(), between.links.rank());
  const auto player = static_cast<int>(place - between.alive.begin());
  const auto start = Clock::now();
  Turns turns(between, start + each);
  for (int round = 0; round < tournament_rounds(players); ++round) {
    between.says(fmt::format("pairs {}/{}", round + 1, tournament_rounds(players)));
    const int other = opponent(players, round, player);
    if (other < 0) continue;
    const int peer = between.alive[static_cast<std::size_t>(other)];
    // One that waited for a lost rank in the round before comes late.
    const int turn = turns.begin(round, player);
    const Links::Waits waits = between.links.waits();
    if (between.crowded && ::sysconf(_SC_NPROCESSORS_ONLN) > 1)
      between.links.set_waits(Links::Waits::spinning);
    if (!measure_pair(between, peer, start + each * (turn + 1), facts))
      facts.notes.push_back(fmt::format("pairs: rank {} does not answer", peer));
    between.links.set_waits(waits);
    turns.end(round, player);
  }
}

}  // namespace dts::train::bench
