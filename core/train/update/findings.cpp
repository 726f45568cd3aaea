// SPDX-License-Identifier: Apache-2.0
#include "core/train/update/findings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

namespace dts::train {
namespace {

// By rank, a sentence about what is wrong there.
using Sentences = std::map<int, std::string>;

void add(Sentences& words, int rank, const std::string& what) {
  std::string& all = words[rank];
  if (all.find(what) == std::string::npos) all += (all.empty() ? "" : "; ") + what;
}

// The rank from which `rank` got its copy of the owner's weights.
int source(const Hierarchy& hierarchy, int rank, int owner) {
  const int relay = hierarchy.relay(hierarchy.node_of(rank), owner);
  return relay == rank ? owner : relay;
}

// True if the owner is to blame, and not the ranks that found its chunks to differ.
bool is_owners_fault(const std::set<int>& finders, int owner, const Hierarchy& hierarchy) {
  if (finders.count(owner) > 0) return finders.size() > 1;
  std::size_t at_first_hand = 0;
  std::size_t found = 0;
  for (int rank = 0; rank < hierarchy.ranks(); ++rank) {
    if (rank == owner || source(hierarchy, rank, owner) != owner) continue;
    ++at_first_hand;
    found += finders.count(rank);
  }
  return at_first_hand > 1 && found == at_first_hand;
}

// "fc1.weight", or "bn1.bias to fc1.weight".
std::string tensors_in(const ChunkGrid& grid, Span chunks) {
  if (chunks.size() == 0) return "nothing";
  const std::string& first = grid.tensor_of(chunks.lo);
  const std::string& last = grid.tensor_of(chunks.hi - 1);
  return first == last ? first : first + " to " + last;
}

void judge_weights(const ChunkGrid& grid,
                   const Hierarchy& hierarchy,
                   const std::vector<Finding>& findings,
                   Sentences& words) {
  std::map<Span, std::set<int>> finders;
  std::map<Span, int> owners;
  for (const Finding& one : findings) {
    if (one.what != Found::weights) continue;
    finders[one.chunks].insert(one.rank);
    owners[one.chunks] = one.peer;
  }
  for (const auto& [chunks, who] : finders) {
    const int owner = owners[chunks];
    const std::string what =
        fmt::format("the weights of {} (chunk {})", tensors_in(grid, chunks), chunks.lo);
    if (is_owners_fault(who, owner, hierarchy)) {
      add(words, owner, what + " are not what it had computed");
      continue;
    }
    for (const int rank : who) {
      const int from = source(hierarchy, rank, owner);
      if (from == owner || who.count(from) == 0)
        add(words, rank, what + " are not what their owner had computed");
    }
  }
}

bool owned_up(const std::vector<Finding>& findings, int rank) {
  return std::any_of(findings.begin(), findings.end(), [&](const Finding& one) {
    return one.what == Found::gradient && one.rank == rank;
  });
}

std::string node_of(const std::vector<Finding>& findings, int rank) {
  for (const Finding& one : findings)
    if (one.rank == rank) return one.node.data();
  return "?";
}

}  // namespace

void Finding::set_node(const std::string& name) {
  node.fill('\0');
  std::copy_n(name.begin(), std::min(name.size(), node.size() - 1), node.begin());
}

std::vector<Blame> judge(const ChunkGrid& grid,
                         const Hierarchy& hierarchy,
                         const std::vector<Finding>& findings) {
  Sentences words;
  std::vector<Blame> between;
  judge_weights(grid, hierarchy, findings, words);
  for (const Finding& one : findings) {
    const std::string tensors = tensors_in(grid, one.chunks);
    if (one.what == Found::momentum)
      add(words, one.rank, fmt::format("the momentum of {} changed in its memory", tensors));
    if (one.what == Found::gradient)
      add(words, one.rank, fmt::format("the gradient of {} changed in its memory", tensors));
    if (one.what == Found::statistics)
      add(words, one.rank, "its running statistics are not those of the other ranks");
    const bool are_weights = one.what == Found::answer;
    if ((one.what == Found::message || are_weights) && !owned_up(findings, one.peer))
      between.push_back({-1,
                         fmt::format("the {} of {} that rank {} sent to rank {} on {} arrived "
                                     "changed: one of the two or what is between them",
                                     are_weights ? "weights" : "gradient",
                                     tensors,
                                     one.peer,
                                     one.rank,
                                     node_of(findings, one.rank))});
  }
  std::vector<Blame> all;
  for (auto& [rank, what] : words) all.push_back({rank, std::move(what)});
  all.insert(all.end(), between.begin(), between.end());
  return all;
}

std::vector<int> odd_ones(const std::vector<std::uint64_t>& values) {
  std::map<std::uint64_t, std::size_t> votes;
  for (const std::uint64_t value : values) ++votes[value];
  const auto most = std::max_element(
      votes.begin(), votes.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  std::vector<int> odd;
  const bool decided = most != votes.end() && 2 * most->second > values.size();
  for (std::size_t rank = 0; rank < values.size(); ++rank)
    if (!decided || values[rank] != most->first) odd.push_back(static_cast<int>(rank));
  return odd;
}

}  // namespace dts::train
