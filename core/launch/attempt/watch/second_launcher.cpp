// SPDX-License-Identifier: Apache-2.0
#include "core/launch/attempt/watch/second_launcher.hpp"

#include "core/base/text/hostlist.hpp"
#include "core/base/text/number_list.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace dts::launch {
namespace {

bool is_loopback(std::string_view host) {
  return host == "localhost" || host == "::1" || host.starts_with("127.");
}

bool meets_on_loopback(const LaunchedProcess& process) {
  const std::string_view place = process.master;
  return is_loopback(place.substr(0, place.rfind(':')));
}

// The rendezvous of `process`. Loopback addresses of different nodes are different places.
std::string meeting_place(const LaunchedProcess& process, const std::string& node) {
  return meets_on_loopback(process) ? node + " " + process.master : process.master;
}

// Claims that no other process of the job may make; equal claims have equal texts.
std::set<std::string> claims_of(const Launched& launched, const std::string& node) {
  std::set<std::string> claims;
  for (const LaunchedProcess& process : launched.processes) {
    const std::string who = fmt::format("{} of {}", process.rank, process.world_size);
    // A world of one rank has no rendezvous: a single process started by mpirun is a tool.
    if (!launched.launcher.empty() && (process.world_size > 1 || !process.master.empty()))
      claims.insert(fmt::format("{}: {} {}", who, launched.launcher, process.program));
    if (!process.master.empty() && process.world_size > 1)
      claims.insert(fmt::format("{} at {}", who, meeting_place(process, node)));
  }
  return claims;
}

// The ranks that exist below one of ours, ascending.
std::set<unsigned> ranks_of(const Launched& launched) {
  std::set<unsigned> ranks;
  for (const LaunchedProcess& process : launched.processes) ranks.insert(process.rank);
  return ranks;
}

RanksTwice words_of(const Launched& launched) {
  RanksTwice twice;
  twice.launcher = launched.launcher;
  twice.command = launched.command;
  if (!launched.processes.empty()) twice.world_size = launched.processes.front().world_size;
  return twice;
}

}  // namespace

void SecondLaunchers::observe(unsigned rank, const std::string& node, Launched launched) {
  forget(rank);
  Below below{node, std::move(launched)};
  below.claims = claims_of(below.launched, node);
  for (const std::string& claim : below.claims) {
    std::set<unsigned>& ranks = claimed_by_[claim];
    if (ranks.size() == 1) ++twice_;
    ranks.insert(rank);
  }
  below_[rank] = std::move(below);
}

void SecondLaunchers::forget(unsigned rank) {
  const auto found = below_.find(rank);
  if (found == below_.end()) return;
  for (const std::string& claim : found->second.claims) {
    const auto claimed = claimed_by_.find(claim);
    if (claimed->second.size() == 2) --twice_;
    claimed->second.erase(rank);
    if (claimed->second.empty()) claimed_by_.erase(claimed);
  }
  below_.erase(found);
}

std::optional<RanksTwice> SecondLaunchers::ranks_twice() const {
  std::set<unsigned> ours;
  for (const auto& [claim, ranks] : claimed_by_)
    if (ranks.size() > 1) ours.insert(ranks.begin(), ranks.end());
  if (ours.empty()) return std::nullopt;
  RanksTwice twice = words_of(below_.at(*ours.begin()).launched);
  std::map<unsigned, unsigned> count;
  for (const unsigned rank : ours) {
    const Below& below = below_.at(rank);
    twice.nodes.insert(below.node);
    for (const unsigned theirs : ranks_of(below.launched)) ++count[theirs];
  }
  twice.ours.assign(ours.begin(), ours.end());
  for (const auto& [rank, times] : count)
    if (times > 1) twice.ranks.push_back(rank);
  return twice;
}

std::optional<RanksTwice> SecondLaunchers::ranks_beside(unsigned rank) const {
  const auto failed = below_.find(rank);
  if (failed == below_.end() || failed->second.launched.launcher.empty()) return std::nullopt;
  const Below& own = failed->second;
  for (const auto& [other, below] : below_) {
    const Launched& launched = below.launched;
    const std::set<unsigned> ranks = ranks_of(launched);
    if (other == rank || launched.started != own.launched.started || ranks.empty()) continue;
    const LaunchedProcess& first = launched.processes.front();
    if (ranks.size() < first.world_size) continue;
    if (below.node != own.node && !meets_on_loopback(first)) continue;
    RanksTwice twice = words_of(launched);
    twice.ours = {std::min(rank, other), std::max(rank, other)};
    twice.ranks.assign(ranks.begin(), ranks.end());
    twice.nodes = {own.node, below.node};
    return twice;
  }
  return std::nullopt;
}

std::string describe(const RanksTwice& twice) {
  return fmt::format("{} runs below each of ranks {} on {}, each time with rank{} {} of {}",
                     twice.launcher.empty() ? "a program that spawns" : twice.launcher,
                     fold_numbers(twice.ours),
                     fold_hostlist({twice.nodes.begin(), twice.nodes.end()}),
                     twice.ranks.size() == 1 ? "" : "s",
                     fold_numbers(twice.ranks),
                     twice.world_size);
}

}  // namespace dts::launch
