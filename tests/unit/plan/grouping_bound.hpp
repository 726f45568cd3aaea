// SPDX-License-Identifier: Apache-2.0
// The best of all ways to give GPUs to ranks, by trying them: first for what the GPUs of a rank
// talk over, then for the near cores of the rank with the fewest. Knows nothing of how bind_node()
// finds its own.
#pragma once

#include "core/plan/binding/binding.hpp"
#include "core/topo/distance.hpp"
#include "tests/unit/plan/near_bound.hpp"

#include <array>
#include <numeric>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

namespace dts::plan {

using Groups = std::vector<std::vector<unsigned>>;

// Sums over ranks; what comes first counts before all that follows.
struct Apart {
  int packages = 0;   // beyond one
  int unlinked = 0;   // weights of links, less than zero
  int crossings = 0;  // of each two GPUs: 1 for several switches, 2 for a processor, 3 for two

  auto operator<=>(const Apart&) const = default;
};

inline Apart operator+(const Apart& a, const Apart& b) {
  return {a.packages + b.packages, a.unlinked + b.unlinked, a.crossings + b.crossings};
}

inline int crossing_between(const topo::Gpu& a, const topo::Gpu& b) {
  constexpr std::array<int, 6> k_crossings{0, 1, 2, 2, 2, 3};  // PIX, PXB, PHB, NODE, PKG, SYS
  return k_crossings.at(static_cast<std::size_t>(topo::path(a, b)));
}

inline Apart apart(const topo::NodeTopology& node, const std::vector<unsigned>& gpus) {
  Apart sum;
  std::set<std::pair<std::optional<unsigned>, std::vector<unsigned>>> packages;
  for (const unsigned gpu : gpus) {
    const topo::Gpu& one = node.gpus[gpu];
    packages.emplace(one.package, one.package ? std::vector<unsigned>() : one.group);
  }
  sum.packages = static_cast<int>(packages.size()) - (packages.empty() ? 0 : 1);
  for (auto a = gpus.begin(); a != gpus.end(); ++a)
    for (auto b = a + 1; b != gpus.end(); ++b)
      sum.crossings += crossing_between(node.gpus[*a], node.gpus[*b]);
  for (const topo::GpuLink& link : node.links)
    if (std::count(gpus.begin(), gpus.end(), link.a) +
            std::count(gpus.begin(), gpus.end(), link.b) ==
        2)
      sum.unlinked -= static_cast<int>(link.weight);
  return sum;
}

inline Apart apart(const topo::NodeTopology& node, const Groups& groups) {
  Apart sum;
  for (const auto& gpus : groups) sum = sum + apart(node, gpus);
  return sum;
}

// The fewest near cores of a rank with these GPUs, cores divided as well as can be.
inline std::size_t best_near(const topo::NodeTopology& node,
                             const Groups& groups,
                             std::size_t each) {
  const std::size_t ranks = groups.size(), cores = node.cores.size();
  const Sorts sorts(node, groups);
  return ranks > cores ? best_crowded(sorts, ranks, cores) : best_fewest(sorts, each);
}

// Every way for ranks with as many GPUs each, or for ranks that share each GPU with as many as the
// others or one more. GPUs that nothing tells apart are of one kind; ways are looked at by the
// number of each kind only.
class Groupings {
 public:
  Groupings(const topo::NodeTopology& node, std::size_t ranks, std::size_t each)
      : node_(node), ranks_(ranks), each_(each), size_(node.gpus.size() / ranks) {
    for (unsigned gpu = 0; gpu < node.gpus.size(); ++gpu) {
      const auto kind = std::find_if(kinds_.begin(), kinds_.end(), [&](const auto& members) {
        return are_alike(members[0], gpu);
      });
      if (kind == kinds_.end())
        kinds_.push_back({gpu});
      else
        kind->push_back(gpu);
    }
  }

  // Of as many GPUs for each rank.
  Apart least_apart() { return least(counts(), ranks_); }

  // The most of all ways that are least apart, or `known` if no way has more; nothing where there
  // are too many ways to look at.
  std::optional<std::size_t> most_near(std::size_t known) {
    best_ = known;
    if (size_ == 0)
      share(0, ranks_ % node_.gpus.size());
    else if (known < each_)
      try_all(counts(), ranks_, {});
    if (looks_ > k_most_looks) return std::nullopt;
    return best_;
  }

 private:
  static constexpr std::size_t k_most_looks = 20'000;

  using Counts = std::vector<unsigned>;  // of each kind

  [[nodiscard]] Counts counts() const {
    Counts counts;
    for (const auto& members : kinds_) counts.push_back(static_cast<unsigned>(members.size()));
    return counts;
  }

  [[nodiscard]] bool are_alike(unsigned a, unsigned b) const {
    const topo::Gpu &one = node_.gpus[a], &other = node_.gpus[b];
    if (std::tie(one.package, one.numa, one.l3, one.group) !=
        std::tie(other.package, other.numa, other.l3, other.group))
      return false;
    for (unsigned third = 0; third < node_.gpus.size(); ++third)
      if (third != a && third != b &&
          (topo::path(one, node_.gpus[third]) != topo::path(other, node_.gpus[third]) ||
           apart(node_, {a, third}).unlinked != apart(node_, {b, third}).unlinked))
        return false;
    return true;
  }

  // Each way to make a group that has one of the first kind that is left, and what is left then.
  template <class Look>
  void each_group(const Counts& left, const Look& look) {
    const auto first = std::find_if(left.begin(), left.end(), [](unsigned n) { return n > 0; });
    if (first == left.end()) return;
    const auto kind = static_cast<std::size_t>(first - left.begin());
    Counts rest = left;
    --rest[kind];
    extend({kind}, rest, look);
  }

  template <class Look>
  void extend(const std::vector<std::size_t>& group, Counts& rest, const Look& look) {
    if (group.size() == size_) return look(group, rest);
    for (std::size_t kind = group.back(); kind < rest.size(); ++kind) {
      if (rest[kind] == 0) continue;
      --rest[kind];
      auto more = group;
      more.push_back(kind);
      extend(more, rest, look);
      ++rest[kind];
    }
  }

  // GPUs of these kinds, the last of each.
  [[nodiscard]] std::vector<unsigned> gpus_of(const std::vector<std::size_t>& group) const {
    std::vector<unsigned> gpus;
    for (std::size_t i = 0; i < group.size(); ++i) {
      const auto before = static_cast<std::size_t>(
          std::count(group.begin(), group.begin() + static_cast<std::ptrdiff_t>(i), group[i]));
      gpus.push_back(kinds_[group[i]][before]);
    }
    std::sort(gpus.begin(), gpus.end());
    return gpus;
  }

  Apart apart_of(const std::vector<std::size_t>& group) {
    const auto [place, is_new] = apart_.try_emplace(group);
    if (is_new) place->second = apart(node_, gpus_of(group));
    return place->second;
  }

  // Of one rank's GPUs taken away from those that are left; and one left without a rank.
  [[nodiscard]] bool may_leave_one(const Counts& left, std::size_t ranks) const {
    return std::accumulate(left.begin(), left.end(), std::size_t{0}) > ranks * size_;
  }

  static Counts without_first(Counts left) {
    --*std::find_if(left.begin(), left.end(), [](unsigned n) { return n > 0; });
    return left;
  }

  Apart least(const Counts& left, std::size_t ranks) {
    if (ranks == 0) return {};
    const auto known = least_.find({left, ranks});
    if (known != least_.end()) return known->second;
    std::optional<Apart> best;
    each_group(left, [&](const std::vector<std::size_t>& group, const Counts& rest) {
      const Apart sum = apart_of(group) + least(rest, ranks - 1);
      if (!best || sum < *best) best = sum;
    });
    if (may_leave_one(left, ranks)) best = std::min(*best, least(without_first(left), ranks));
    return least_[{left, ranks}] = *best;
  }

  // Only ways that are least apart in the end, and may have more near cores than the best so far.
  void try_all(const Counts& left, std::size_t ranks, const std::vector<std::size_t>& last) {
    if (++looks_ > k_most_looks || best_ == each_) return;
    if (!chosen_.empty() && (ranks == 0 || node_.cores.size() >= ranks_)) {
      const std::size_t near =
          ranks > 0 ? best_fewest(Sorts(node_, chosen_), each_) : best_near(node_, chosen_, each_);
      if (near <= best_) return;
      if (ranks == 0) best_ = near;
    }
    if (ranks == 0) return;
    const Apart least_of_all = least(left, ranks);
    each_group(left, [&](const std::vector<std::size_t>& group, const Counts& rest) {
      const bool in_order = last.empty() || last[0] != group[0] || last <= group;
      if (!in_order || apart_of(group) + least(rest, ranks - 1) != least_of_all) return;
      chosen_.push_back(gpus_of(group));
      try_all(rest, ranks - 1, group);
      chosen_.pop_back();
    });
    if (may_leave_one(left, ranks) && least(without_first(left), ranks) == least_of_all)
      try_all(without_first(left), ranks, last);
  }

  // Ranks for the GPUs of each kind from this one on, `more` of which have one more.
  void share(std::size_t kind, std::size_t more) {
    if (kind == kinds_.size()) {
      if (more == 0 && ++looks_ <= k_most_looks && best_ < each_)
        best_ = std::max(best_, best_near(node_, chosen_, each_));
      return;
    }
    const std::vector<unsigned>& members = kinds_[kind];
    const std::size_t before = chosen_.size();
    for (std::size_t extra = 0; extra <= std::min(more, members.size()); ++extra) {
      chosen_.resize(before);
      chosen_.insert(
          chosen_.end(), members.size() * (ranks_ / node_.gpus.size()) + extra, {members[0]});
      share(kind + 1, more - extra);
    }
    chosen_.resize(before);
  }

  const topo::NodeTopology& node_;
  const std::size_t ranks_, each_, size_;  // cores and GPUs of each rank
  std::vector<std::vector<unsigned>> kinds_;
  std::map<std::vector<std::size_t>, Apart> apart_;
  std::map<std::pair<Counts, std::size_t>, Apart> least_;
  Groups chosen_;
  std::size_t best_ = 0, looks_ = 0;
};

}  // namespace dts::plan
