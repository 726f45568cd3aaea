// SPDX-License-Identifier: Apache-2.0
// The tournament of pairs.
#include "core/train/bench/between.hpp"
#include "core/train/bench/cpus.hpp"
#include "core/train/bench/timing.hpp"
#include "core/train/bench/tournament.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

namespace dts::train::bench {
namespace {

constexpr std::size_t k_probe = 65536;  // bytes, to detect slow links

constexpr std::size_t k_fewest = 3;  // undisturbed round trips needed to rate a link

// The round trips of a pair with messages of one size, in s.
struct Trips {
  std::vector<double> all;
  std::vector<double> undisturbed;  // part of `all`: nobody took the core of either rank

  [[nodiscard]] bool disturbed() const { return undisturbed.size() < k_fewest; }

  // One way: half of a fast round trip; uses all of them if almost all were disturbed.
  [[nodiscard]] double one_way() const { return lower_decile(disturbed() ? all : undisturbed) / 2; }
};

// Times one pair, in the leading or the following rank. `bytes` is the size of a message.
class PairTimer {
 public:
  PairTimer(Links& links, int peer, Links::Deadline deadline)
      : links_(links), peer_(peer), deadline_(deadline) {}

  // Returns nullopt if the peer, which must call follow(), does not answer. Takes about `budget`
  // seconds, on a busy machine up to two.
  std::optional<Trips> lead(std::size_t bytes, double budget) {
    constexpr double k_most = 200, k_enough = 20;  // round trips
    constexpr double k_slow = 0.5, k_longest = 2;  // seconds
    const Clock::time_point start = Clock::now();
    const int warm = warm_up(bytes);
    for (int i = 0; i < warm; ++i)
      if (!links_.ping_pong(peer_, bytes, true, deadline_)) return std::nullopt;
    const double one = std::max(seconds_since(start) / warm, 1e-7);
    const double least = std::clamp(k_slow / one, 3.0, k_enough);
    const auto count = static_cast<std::uint64_t>(std::clamp(budget / one, least, k_most));
    Trips trips;
    do {
      if (!series(bytes, count, trips)) return std::nullopt;
    } while (trips.disturbed() && seconds_since(start) < k_longest);
    if (!links_.send(peer_, std::uint64_t{0}, deadline_)) return std::nullopt;
    return trips;
  }

  bool follow(std::size_t bytes) {
    for (int i = 0; i < warm_up(bytes); ++i)
      if (!links_.ping_pong(peer_, bytes, false, deadline_)) return false;
    while (true) {
      const auto count = links_.receive<std::uint64_t>(peer_, deadline_);
      if (!count || *count == 0) return count.has_value();
      std::string disturbed;
      Disturbance disturbance;
      for (std::uint64_t i = 0; i < *count; ++i) {
        const Clock::time_point begin = Clock::now();
        if (!links_.ping_pong(peer_, bytes, false, deadline_)) return false;
        disturbed += disturbance.since_last(seconds_since(begin)) ? '!' : '.';
      }
      if (!links_.send_bytes(peer_, disturbed, deadline_)) return false;
    }
  }

 private:
  // Makes `count` more round trips.
  bool series(std::size_t bytes, std::uint64_t count, Trips& trips) {
    if (!links_.send(peer_, count, deadline_)) return false;
    const std::size_t before = trips.all.size();
    std::string disturbed;
    Disturbance disturbance;
    for (std::uint64_t i = 0; i < count; ++i) {
      const Clock::time_point begin = Clock::now();
      if (!links_.ping_pong(peer_, bytes, true, deadline_)) return false;
      trips.all.push_back(seconds_since(begin));
      disturbed += disturbance.since_last(trips.all.back()) ? '!' : '.';
    }
    const auto there = links_.receive_bytes(peer_, deadline_);
    if (!there || there->size() != disturbed.size()) return false;
    for (std::size_t i = 0; i < disturbed.size(); ++i)
      if (disturbed[i] == '.' && (*there)[i] == '.')
        trips.undisturbed.push_back(trips.all[before + i]);
    return true;
  }

  // Enough to establish connections, but few on slow links.
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
  // Uses smaller messages on a slow link, because all must end before the deadline.
  const double affordable = per_second(static_cast<double>(k_probe) * budget, probe->one_way());
  const auto bytes =
      static_cast<std::uint64_t>(std::min(static_cast<double>(between.options.message_bytes()),
                                          std::max(affordable, static_cast<double>(k_probe))));
  if (!between.links.send(peer, bytes, deadline)) return false;
  const auto transfer = timer.lead(bytes, budget);
  if (!transfer) return false;
  facts.pairs.push_back({rank,
                         peer,
                         latency->one_way(),
                         per_second(static_cast<double>(bytes), transfer->one_way()),
                         latency->disturbed() || transfer->disturbed()});
  if (facts.pairs.back().disturbed)
    facts.notes.push_back(fmt::format(
        "pairs: the link to rank {} may be faster than measured: other programs had the "
        "processors in all but {} of {} round trips of {} B and {} of {} of {} B",
        peer,
        latency->undisturbed.size(),
        latency->all.size(),
        k_small,
        transfer->undisturbed.size(),
        transfer->all.size(),
        bytes));
  return true;
}

// On crowded machines pairs take turns: the lower rank of each waits until the lower rank of the
// pair before it is done, and then calls its peer. Otherwise all pairs of a round run at once.
class Turns {
 public:
  Turns(const Between& between, Links::Deadline first) : between_(between), first_(first) {
    if (!between.crowded) return;
    const auto players = static_cast<int>(between.alive.size());
    for (int round = 0; round < tournament_rounds(players); ++round)
      for (int player = 0; player < players; ++player)
        if (opponent(players, round, player) > player) leaders_.push_back({round, player});
  }

  // Waits for this pair's turn. Returns the number of turns before it.
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

  // Waits until the last turn is over: ranks that waited in a collective would disturb it.
  void finish(int player) {
    if (leaders_.empty()) return;
    const auto last = static_cast<int>(leaders_.size()) - 1;
    const auto deadline = first_ + length() * (last + 1);
    if (!leads(last, player)) return (void)between_.links.receive<char>(rank_of(last), deadline);
    for (const int rank : between_.alive)
      if (rank != rank_of(last)) (void)between_.links.send(rank, 't', deadline);
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
  Links::Deadline first_;                     // deadline of the first turn
  std::vector<std::pair<int, int>> leaders_;  // by turn: round and player
};

// Binds a rank during its turn on a crowded machine, so that two spinning ranks use different
// cores.
class Undisturbed {
 public:
  Undisturbed(Links& links, bool leads) : links_(links), waits_(links.waits()) {
    const std::vector<int> cores = own_cores();
    if (cores.size() < 2) return;
    bound_.emplace(cores[leads ? 0 : 1]);
    links_.set_waits(Links::Waits::spinning);
  }

  Undisturbed(const Undisturbed&) = delete;
  Undisturbed& operator=(const Undisturbed&) = delete;

  ~Undisturbed() { links_.set_waits(waits_); }

 private:
  Links& links_;
  Links::Waits waits_;
  std::optional<OnCore> bound_;
};

}  // namespace

void measure_pairs(const Between& between, RankFacts& facts) {
  const std::chrono::seconds each(between.options.quick ? 10 : 20);
  const auto players = static_cast<int>(between.alive.size());
  const auto place = std::find(between.alive.begin(), between.alive.end(), between.links.rank());
  const auto player = static_cast<int>(place - between.alive.begin());
  const auto start = Clock::now();
  Turns turns(between, start + each);
  for (int round = 0; round < tournament_rounds(players); ++round) {
    between.report_phase(fmt::format("pairs {}/{}", round + 1, tournament_rounds(players)));
    const int other = opponent(players, round, player);
    if (other < 0) continue;
    const int peer = between.alive[static_cast<std::size_t>(other)];
    // A peer that waited for a lost rank in the previous round comes late.
    const int turn = turns.begin(round, player);
    const auto one =
        between.crowded ? std::make_unique<Undisturbed>(between.links, player < other) : nullptr;
    if (!measure_pair(between, peer, start + each * (turn + 1), facts))
      facts.notes.push_back(fmt::format("pairs: rank {} does not answer", peer));
    turns.end(round, player);
  }
  turns.finish(player);
}

}  // namespace dts::train::bench
