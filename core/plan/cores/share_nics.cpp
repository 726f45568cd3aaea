// SPDX-License-Identifier: Apache-2.0
#include "core/plan/cores/share_nics.hpp"

#include "core/base/text/alike.hpp"
#include "core/plan/cores/fabric.hpp"
#include "core/plan/cores/flow.hpp"
#include "core/plan/cores/parts.hpp"
#include "core/topo/distance.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

namespace dts::plan {
namespace {

using topo::NodeTopology;

std::string why_left(const NodeTopology& topology,
                     unsigned nic,
                     const std::vector<unsigned>& used) {
  const topo::Nic& left = topology.nics[nic];
  const unsigned gbps = speed_of(left);
  if (used.empty()) return fmt::format("{}, {} Gb/s, too slow", to_string(left.network), gbps);
  const topo::Nic& best = topology.nics[used[0]];
  if (gbps == 0 && speed_of(best) > 0) return "speed not known";
  std::string words = left.network == best.network ? "" : to_string(left.network);
  if (gbps > 0) words += fmt::format("{}{} Gb/s", words.empty() ? "" : ", ", gbps);
  return words + (left.network == best.network ? ", slower" : "");
}

// A user of an adapter: each GPU of a rank, or a rank without GPUs.
struct User {
  std::size_t rank;
  std::vector<unsigned> distances;  // to each of the adapters
};

std::vector<User> users_of(const NodeTopology& topology,
                           const std::vector<unsigned>& nics,
                           const std::vector<RankBinding>& ranks) {
  std::vector<User> users;
  const auto add = [&](std::size_t rank, const RankBinding& user) {
    users.push_back({rank, {}});
    for (const unsigned nic : nics)
      users.back().distances.push_back(nic_distance(topology, user, nic));
  };
  for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
    if (ranks[rank].gpus.empty()) add(rank, ranks[rank]);
    for (const unsigned gpu : ranks[rank].gpus) {
      RankBinding alone;
      alone.gpus = {gpu};
      add(rank, alone);
    }
  }
  return users;
}

// Users at the same distance from every adapter.
using Class = Alike<std::vector<unsigned>>;

// The number of users of each class on each adapter. User j of an adapter, from 0, costs 2j + 1, so
// that j users cost j^2.
std::vector<std::vector<std::int64_t>> solve(const std::vector<Class>& classes,
                                             std::size_t nics,
                                             std::size_t users) {
  const auto count = static_cast<std::int64_t>(users);
  const std::size_t source = 0, sink = 1, first_nic = 2, first_class = first_nic + nics;
  Flow flow(first_class + classes.size());
  for (std::size_t n = 0; n < nics; ++n)
    for (std::int64_t j = 0; j < count; ++j) flow.add(first_nic + n, sink, 1, 2 * j + 1);
  std::vector<std::vector<std::size_t>> edges(classes.size());
  for (std::size_t c = 0; c < classes.size(); ++c) {
    flow.add(source, first_class + c, static_cast<std::int64_t>(classes[c].members.size()), 0);
    for (std::size_t n = 0; n < nics; ++n)
      edges[c].push_back(flow.add(first_class + c,
                                  first_nic + n,
                                  count,
                                  std::int64_t{classes[c].key[n]} * 2 * count * count));
  }
  flow.run(source, sink);
  std::vector<std::vector<std::int64_t>> amounts(classes.size());
  for (std::size_t c = 0; c < classes.size(); ++c)
    for (const std::size_t edge : edges[c]) amounts[c].push_back(flow.flow(edge));
  return amounts;
}

// Swaps adapters between users if a rank then shares its adapter with fewer ranks, and the total
// distance does not increase.
void keep_together(const std::vector<User>& users,
                   std::size_t nics,
                   std::size_t ranks,
                   std::vector<std::size_t>& nic_of) {
  std::vector<std::size_t> itself(nics);
  std::iota(itself.begin(), itself.end(), std::size_t{0});
  Parts parts(std::move(itself), ranks);
  for (std::size_t user = 0; user < users.size(); ++user)
    parts.add(users[user].rank, nic_of[user], 1);
  const auto exchange = [&](std::size_t a, std::size_t b) {
    for (const std::size_t user : {a, b}) parts.add(users[user].rank, nic_of[user], -1);
    std::swap(nic_of[a], nic_of[b]);
    for (const std::size_t user : {a, b}) parts.add(users[user].rank, nic_of[user], 1);
  };
  const auto far = [&](std::size_t user, std::size_t other) {
    return users[user].distances[nic_of[other]];
  };
  for (std::size_t a = 0; a < users.size(); ++a)
    for (std::size_t b = a + 1; b < users.size(); ++b) {
      if (far(a, a) + far(b, b) != far(a, b) + far(b, a)) continue;
      const std::int64_t before = parts.squares();
      exchange(a, b);
      if (parts.squares() >= before) exchange(a, b);
    }
}

// Assigns each idle adapter to the user with the fewest adapters, among the users that it is as
// near to as their own. Adapters with fewer such users come first.
void share_rest(const std::vector<User>& users, std::vector<std::vector<std::size_t>>& nics_of) {
  const std::size_t nics = users.front().distances.size();
  std::vector<std::vector<std::size_t>> takers(nics);
  for (std::size_t user = 0; user < users.size(); ++user)
    for (std::size_t nic = 0; nic < nics; ++nic)
      if (users[user].distances[nic] <= users[user].distances[nics_of[user].front()])
        takers[nic].push_back(user);
  std::vector<bool> has_user(nics, false);
  for (const auto& list : nics_of) has_user[list.front()] = true;
  std::vector<std::size_t> idle;
  for (std::size_t nic = 0; nic < nics; ++nic)
    if (!has_user[nic] && !takers[nic].empty()) idle.push_back(nic);
  std::stable_sort(idle.begin(), idle.end(), [&](std::size_t a, std::size_t b) {
    return takers[a].size() < takers[b].size();
  });
  for (const std::size_t nic : idle) {
    const auto poorest = *std::min_element(
        takers[nic].begin(), takers[nic].end(), [&](std::size_t a, std::size_t b) {
          return nics_of[a].size() < nics_of[b].size();
        });
    nics_of[poorest].push_back(nic);
  }
}

}  // namespace

unsigned nic_distance(const NodeTopology& topology, const RankBinding& rank, unsigned nic) {
  auto best = static_cast<unsigned>(topo::Path::sys);
  const topo::Nic& adapter = topology.nics[nic];
  for (const unsigned gpu : rank.gpus)
    best = std::min(best, static_cast<unsigned>(topo::path(topology.gpus[gpu], adapter)));
  if (!rank.gpus.empty()) return best;
  const auto most_are = [&](unsigned distance) {
    const auto near = std::count_if(rank.home.begin(), rank.home.end(), [&](unsigned core) {
      return topo::distance(topology.cores[core], adapter) <= distance;
    });
    return 2 * static_cast<std::size_t>(near) >= rank.home.size();
  };
  if (most_are(topo::k_same_numa)) return static_cast<unsigned>(topo::Path::node);
  return static_cast<unsigned>(most_are(topo::k_same_package) ? topo::Path::pkg : topo::Path::sys);
}

NicChoice choose_nics(const NodeTopology& topology) {
  NicChoice choice;
  std::vector<unsigned> linked;
  std::vector<Carrier> carriers;
  for (unsigned nic = 0; nic < topology.nics.size(); ++nic) {
    const topo::Nic& adapter = topology.nics[nic];
    if (adapter.link == topo::Link::down) continue;
    linked.push_back(nic);
    carriers.push_back({adapter.network, speed_of(adapter), card_of(adapter), adapter.pci_gbps});
  }
  for (const std::size_t i : best_network(carriers)) choice.used.push_back(linked[i]);
  for (unsigned nic = 0; nic < topology.nics.size(); ++nic) {
    if (std::binary_search(choice.used.begin(), choice.used.end(), nic)) continue;
    const bool is_down = topology.nics[nic].link == topo::Link::down;
    choice.left.push_back({nic, is_down ? "no link" : why_left(topology, nic, choice.used)});
  }
  return choice;
}

std::vector<unsigned> compute_nics(const NodeTopology& topology) {
  return choose_nics(topology).used;
}

void share_nics(const NodeTopology& topology, std::vector<RankBinding>& ranks) {
  const std::vector<unsigned> nics = compute_nics(topology);
  if (nics.empty()) return;
  const std::vector<User> users = users_of(topology, nics, ranks);
  const std::vector<Class> classes =
      group_alike(users.size(), [&](std::size_t i) { return users[i].distances; });
  const auto amounts = solve(classes, nics.size(), users.size());
  std::vector<std::size_t> nic_of(users.size());
  for (std::size_t c = 0; c < classes.size(); ++c) {
    auto user = classes[c].members.begin();
    for (std::size_t n = 0; n < nics.size(); ++n)
      for (std::int64_t k = 0; k < amounts[c][n]; ++k) nic_of[*user++] = n;
  }
  if (users.size() > ranks.size()) keep_together(users, nics.size(), ranks.size(), nic_of);
  std::vector<std::vector<std::size_t>> nics_of;
  for (const std::size_t nic : nic_of) nics_of.push_back({nic});
  share_rest(users, nics_of);
  for (std::size_t user = 0; user < users.size(); ++user)
    for (const std::size_t nic : nics_of[user]) ranks[users[user].rank].nics.push_back(nics[nic]);
  for (RankBinding& rank : ranks) make_set(rank.nics);
}

}  // namespace dts::plan
