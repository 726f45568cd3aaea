// SPDX-License-Identifier: Apache-2.0
#include "core/launch/attempt/start/gathering.hpp"

#include "core/base/text/counted.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace dts::launch {
namespace {

constexpr std::chrono::seconds k_sibling_patience{3};

}  // namespace

Gathering::Gathering(
    const AttemptSettings& settings, RankTable& ranks, Ending& ending, AttemptNews& news, Time now)
    : settings_(settings),
      ranks_(ranks),
      ending_(ending),
      news_(news),
      limit_(now + settings.spec.start_timeout),
      silent_(settings, ranks, ending, news, now) {}

bool Gathering::is_late(unsigned rank) const {
  return ranks_.at(rank).hello.topology && topologies_.count(rank) == 0;
}

std::string Gathering::missing() const {
  std::vector<unsigned> absent;
  for (unsigned rank = 0; rank < settings_.plan.world_size; ++rank)
    if (!ranks_.contains(rank) || is_late(rank)) absent.push_back(rank);
  return fmt::format("{}", fmt::join(absent, ","));
}

std::string Gathering::incomplete_node(Time now) const {
  const plan::Plan& plan = settings_.plan;
  if (ranks_.empty() || plan.world_size != plan.nodes * plan.ntasks_per_node) return {};
  // One daemon starts all ranks of a node in quick succession. The ranks that have arrived show how
  // long that takes here. Whole nodes may be late, if their file systems are slow.
  const auto patience = std::max<Time::duration>(k_sibling_patience, 2 * ranks_.arrival());
  if (now - ranks_.last_hello() < patience) return {};
  std::map<std::string, unsigned> there;
  for (const auto& [rank, state] : ranks_) ++there[state.node()];
  for (const auto& [node, count] : there)
    if (count < plan.ntasks_per_node) return node;
  return {};
}

bool Gathering::on_hello(Peer peer, Hello&& hello, const std::string& reached_at, Time now) {
  if (hello.token != settings_.token || ending_.begun() || ranks_.rank_of(peer)) return false;
  const unsigned rank = hello.rank.rank;
  const unsigned planned = settings_.plan.world_size;
  if (hello.rank.world_size != planned) {
    ending_.end({run::Cause::wrong_ranks,
                 3,
                 fmt::format("rank {} on {} thinks the world has {}, planned {} {}: the launcher's "
                             "variables did not reach it",
                             rank,
                             hello.rank.node,
                             counted(hello.rank.world_size, "rank"),
                             planned == 1 ? "is" : "are",
                             planned)},
                now);
    return false;
  }
  // Once all have arrived, any further rank is a duplicate or out of range.
  if (ranks_.contains(rank) || rank >= planned) {
    ending_.end({run::Cause::wrong_ranks,
                 3,
                 fmt::format("rank {} on {} said hello, but that rank is taken or out of range "
                             "(held by {})",
                             rank,
                             hello.rank.node,
                             ranks_.contains(rank) ? ranks_.where(rank) : "none")},
                now);
    return false;
  }
  // All ranks of a node see the same.
  if (!hello.folder_trouble.empty() && hello.rank.local_rank == 0)
    news_.early.push_back(
        {.what = run::Warning{fmt::format("{}: {}", hello.rank.node, hello.folder_trouble)}});
  ranks_.add(peer, std::move(hello), reached_at, now);
  if (is_late(rank)) ++late_;
  return true;
}

void Gathering::on_topology(unsigned rank, std::string text) {
  if (!is_late(rank) || text.empty()) return;
  topologies_.emplace(rank, std::move(text));
  --late_;
}

void Gathering::on_refused(Peer peer, const Refused& message, Time now) {
  news_.refused.push_back(peer);
  if (message.token != settings_.token || ending_.begun() || is_complete()) return;
  run::Outcome outcome{
      run::Cause::wrong_ranks, 3, fmt::format("a rank on {}: {}", message.node, message.message)};
  if (message.of_node) {
    outcome.cause = run::Cause::launch_failed;
    outcome.node = message.node;
  }
  ending_.end(std::move(outcome), now);
}

void Gathering::on_launcher_exit(int code, Time now) {
  silent_.end_unless_a_node_is_down(
      {run::Cause::launch_failed,
       code != 0 ? code : 1,
       fmt::format("the launcher ended with code {} before ranks {} said hello", code, missing()),
       std::nullopt},
      now);
}

void Gathering::on_tick(Time now) {
  if (const std::string node = incomplete_node(now); !node.empty())
    return ending_.end(
        {run::Cause::launch_failed,
         1,
         fmt::format("ranks {} did not say hello, but others on {} did, the last {} s ago",
                     missing(),
                     node,
                     std::chrono::floor<std::chrono::seconds>(now - ranks_.last_hello()).count())},
        now);
  silent_.on_tick(now);
  if (now < limit_) return;
  ending_.end({run::Cause::launch_failed,
               1,
               fmt::format("ranks {} did not say hello within {} s{}",
                           missing(),
                           settings_.spec.start_timeout.count(),
                           silent_.describe())},
              now);
}

}  // namespace dts::launch
