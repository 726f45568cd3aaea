// SPDX-License-Identifier: Apache-2.0
#include "core/plan/gpus/gpu_search.hpp"

#include "core/plan/gpus/gpu_packing.hpp"
#include "core/plan/gpus/gpu_swaps.hpp"
#include "core/plan/gpus/gpus_alike.hpp"
#include "core/plan/gpus/gpus_apart.hpp"

#include <algorithm>
#include <tuple>

namespace dts::plan {
namespace {

using topo::NodeTopology;
using Groups = std::vector<std::vector<unsigned>>;

constexpr std::size_t k_most_ways = 500;
constexpr std::size_t k_most_looks = 5'000;

// Tries all ways to choose `ranks` groups of `size` that are no worse than the best so far, nearest
// partners first. Ways that differ only by swapping equivalent GPUs are tried once.
class GroupSearch {
 public:
  GroupSearch(const NodeTopology& topology,
              const std::vector<unsigned>& gpus,
              std::size_t ranks,
              std::size_t size,
              const FewestNear& near)
      : topology_(topology),
        pairs_(topology),
        near_(near),
        gpus_(gpus),
        kind_of_(alike_gpus(topology, pairs_, gpus)),
        ranks_(ranks),
        size_(size),
        pairs_left_(ranks * size * (size - 1) / 2),
        used_(gpus.size(), false) {
    for (const unsigned a : gpus)
      for (const unsigned b : gpus) {
        if (a == b) continue;
        strongest_ = std::max(strongest_, pairs_.linked(a, b));
        least_crossing_ = std::min(least_crossing_, pairs_.crossing(a, b));
        least_path_ = std::min(least_path_, pairs_.path(a, b));
      }
  }

  GpuWays run() {
    const Groups packed = pack_gpus(topology_, gpus_, static_cast<unsigned>(ranks_), size_);
    const Groups start = swap_gpus(pairs_, near_, gpus_, packed);
    best_ = score_of(start);
    const GroupingScore at_start = best_;
    open_group();
    const bool all = looks_ < k_most_looks && ways_.size() < k_most_ways;
    // True if all results were found and this one is equivalent to one of them.
    if (ways_.empty() || (!all && std::find(ways_.begin(), ways_.end(), start) == ways_.end() &&
                          compare(at_start, best_) == 0))
      ways_.insert(ways_.begin(), start);
    if (!all) improve();
    return {std::move(ways_), all};
  }

 private:
  // The kinds of the GPUs in a group.
  struct Kinds {
    std::size_t first;
    std::vector<std::size_t> all;  // ascending
  };

  [[nodiscard]] GroupingScore score_of(const Groups& groups) const {
    GroupingScore worth;
    for (const auto& group : groups) worth.apart += pairs_.of(group);
    worth.fewest_near = near_.of(groups);
    return worth;
  }

  // The GPUs in order, which keeps linked ones together, in groups. If some GPUs are left over,
  // omits those before the group `skip`.
  [[nodiscard]] Groups in_order(std::size_t skip) const {
    Groups groups(ranks_);
    const std::size_t left = gpus_.size() - ranks_ * size_;
    for (std::size_t i = 0; i < ranks_ * size_; ++i)
      groups[i / size_].push_back(gpus_[i + (i / size_ >= skip ? left : 0)]);
    return groups;
  }

  // After a search that was cut short, swaps may improve its result, or find a better one.
  void improve() {
    std::vector<Groups> starts{
        ways_.front(),
        pack_gpus(topology_, gpus_, static_cast<unsigned>(ranks_), size_, Filling::in_order)};
    const bool is_any_left = gpus_.size() > ranks_ * size_;
    for (std::size_t skip = is_any_left ? 0 : ranks_; skip <= ranks_; ++skip)
      starts.push_back(in_order(skip));
    for (Groups& start : starts) {
      Groups swapped = swap_gpus(pairs_, near_, gpus_, std::move(start));
      const GroupingScore worth = score_of(swapped);
      if (compare(worth, best_) >= 0) continue;
      best_ = worth;
      ways_ = {std::move(swapped)};
    }
  }

  // True if no completion can be as good as the best.
  [[nodiscard]] bool is_hopeless(const GpusApart& so_far) const {
    GroupingScore hope{so_far, fewest_};
    const auto left = static_cast<unsigned>(pairs_left_);
    hope.apart.linked += left * strongest_;
    hope.apart.crossings += left * least_crossing_;
    hope.apart.paths += left * least_path_;
    return compare(hope, best_) > 0;
  }

  void finish() {
    const GroupingScore found{closed_, near_.of(groups_)};
    const int order = compare(found, best_);
    if (order > 0) return;
    if (order < 0) ways_.clear();
    best_ = found;
    ways_.push_back(groups_);
  }

  [[nodiscard]] bool is_over() { return ways_.size() >= k_most_ways || ++looks_ >= k_most_looks; }

  // The next group begins with the first free GPU. If some GPUs will be left over, it may begin
  // with any free one, of which one per kind is tried.
  void open_group() {
    if (groups_.size() == ranks_) return finish();
    if (is_over()) return;
    const std::size_t first = first_free();
    if (first == gpus_.size()) return;
    used_[first] = true;
    groups_.push_back({gpus_[first]});
    fill_group({first});
    groups_.pop_back();
    used_[first] = false;
    skip_alike(first);
  }

  void skip_alike(std::size_t first) {
    std::vector<std::size_t> skipped;
    for (std::size_t next = first; next < gpus_.size(); ++next)
      if (!used_[next] && kind_of_[next] == kind_of_[first]) skipped.push_back(next);
    if (skipped_ + skipped.size() > gpus_.size() - ranks_ * size_) return;
    for (const std::size_t next : skipped) used_[next] = true;
    skipped_ += skipped.size();
    open_group();
    skipped_ -= skipped.size();
    for (const std::size_t next : skipped) used_[next] = false;
  }

  [[nodiscard]] std::size_t first_free() const {
    return static_cast<std::size_t>(std::find(used_.begin(), used_.end(), false) - used_.begin());
  }

  // `members`: positions of the open group in gpus_.
  void fill_group(const std::vector<std::size_t>& members) {
    const std::size_t pairs = members.size() - 1;  // pairs that the last member formed
    GpusApart so_far = closed_;
    so_far += pairs_.of(groups_.back());
    pairs_left_ -= pairs;
    if (!is_hopeless(so_far)) {
      if (members.size() == size_)
        close_group(members, so_far);
      else if (!is_over())
        add_partner(members);
    }
    pairs_left_ += pairs;
  }

  void add_partner(const std::vector<std::size_t>& members) {
    std::vector<std::size_t> tried;
    for (const std::size_t next : partners(members.back())) {
      if (std::find(tried.begin(), tried.end(), kind_of_[next]) != tried.end()) continue;
      tried.push_back(kind_of_[next]);
      used_[next] = true;
      groups_.back().push_back(gpus_[next]);
      std::vector<std::size_t> more = members;
      more.push_back(next);
      fill_group(more);
      groups_.back().pop_back();
      used_[next] = false;
    }
  }

  void close_group(const std::vector<std::size_t>& members, const GpusApart& so_far) {
    Kinds kinds{kind_of_[members[0]], {}};
    for (const std::size_t member : members) kinds.all.push_back(kind_of_[member]);
    std::sort(kinds.all.begin(), kinds.all.end());
    // Two groups that begin with equivalent GPUs are tried in one order only.
    if (!kinds_.empty() && kinds_.back().first == kinds.first && kinds.all < kinds_.back().all)
      return;
    const GpusApart closed = closed_;
    const std::size_t fewest = fewest_;
    closed_ = so_far;
    fewest_ = near_.of_some(groups_);
    kinds_.push_back(std::move(kinds));
    if (!is_hopeless(closed_)) open_group();
    kinds_.pop_back();
    fewest_ = fewest;
    closed_ = closed;
  }

  // The free GPUs after `last`, the best for the open group first.
  [[nodiscard]] std::vector<std::size_t> partners(std::size_t last) const {
    std::vector<std::tuple<unsigned, std::int64_t, unsigned, unsigned, unsigned, std::size_t>>
        ranked;
    for (std::size_t next = last + 1; next < gpus_.size(); ++next) {
      if (used_[next]) continue;
      unsigned packages = 0, crossings = 0, steps = 0, path = 0;
      std::int64_t linked = 0;
      for (const unsigned member : groups_.back()) {
        const unsigned far = pairs_.steps(member, gpus_[next]);
        packages += far == GpuPairs::k_other_package ? 1 : 0;
        linked += pairs_.linked(member, gpus_[next]);
        crossings += pairs_.crossing(member, gpus_[next]);
        steps += far;
        path += pairs_.path(member, gpus_[next]);
      }
      ranked.emplace_back(packages, -linked, crossings, steps, path, next);
    }
    std::sort(ranked.begin(), ranked.end());
    std::vector<std::size_t> order;
    for (const auto& one : ranked) order.push_back(std::get<5>(one));
    return order;
  }

  const NodeTopology& topology_;
  const GpuPairs pairs_;
  const FewestNear& near_;
  const std::vector<unsigned>& gpus_;
  const std::vector<std::size_t> kind_of_;  // by position in gpus_
  const std::size_t ranks_, size_;
  unsigned strongest_ = 0, least_crossing_ = ~0U, least_path_ = ~0U;  // of any two
  std::size_t pairs_left_;
  std::vector<bool> used_;
  std::size_t skipped_ = 0, looks_ = 0;
  Groups groups_;
  std::vector<Kinds> kinds_;              // of the complete groups
  GpusApart closed_;                      // of the complete groups
  std::size_t fewest_ = ~std::size_t{0};  // near cores of the worst-off rank in the complete groups
  GroupingScore best_;
  std::vector<Groups> ways_;
};

}  // namespace

GpuWays nearest_groups(const NodeTopology& topology,
                       const std::vector<unsigned>& gpus,
                       unsigned ranks,
                       std::size_t each,
                       const FewestNear& near) {
  return GroupSearch(topology, gpus, ranks, each, near).run();
}

}  // namespace dts::plan
