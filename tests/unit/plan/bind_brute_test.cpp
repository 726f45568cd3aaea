// SPDX-License-Identifier: Apache-2.0
// bind_node() beside every other way, on machines small enough to try them all.
#include "core/plan/binding/binding.hpp"
#include "core/plan/cores/share_nics.hpp"
#include "tests/support/sanitized.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <numeric>
#include <optional>
#include <random>

namespace dts::plan {
namespace {

// Every way to give `gpus` to the ranks, as many each, and every fair way to give them the cores,
// `limit` each at the utmost.
class BruteForce {
 public:
  BruteForce(const topo::NodeTopology& node, const BindRequest& request)
      : node_(node), gpus_(request.gpus.size()), ranks_(request.ranks) {
    each_ = std::max<std::size_t>(1, gpus_ / ranks_.size());
    cores_ = node.cores.size() / ranks_.size();
    more_ = request.cores_per_rank == 0 || request.cores_per_rank > cores_;
    if (!more_) cores_ = request.cores_per_rank;
    idle_ = request.cores_per_rank > 0;
  }

  BindingScore best() {
    give_gpu(0);
    return *best_;
  }

 private:
  void give_gpu(unsigned gpu) {
    if (gpu == gpus_) return give_core(0);
    for (RankBinding& rank : ranks_) {
      if (rank.gpus.size() == each_) continue;
      rank.gpus.push_back(gpu);
      give_gpu(gpu + 1);
      rank.gpus.pop_back();
    }
  }

  void give_core(unsigned core) {
    if (core == node_.cores.size()) return look();
    if (idle_) give_core(core + 1);
    for (RankBinding& rank : ranks_) {
      if (rank.home.size() == cores_ + (more_ ? 1 : 0)) continue;
      rank.home.push_back(core);
      give_core(core + 1);
      rank.home.pop_back();
    }
  }

  void look() {
    for (const RankBinding& rank : ranks_)
      if (rank.home.size() < cores_) return;
    auto ranks = ranks_;
    share_nics(node_, ranks);
    const BindingScore found = score(node_, ranks);
    if (!best_ || is_better(found, *best_)) best_ = found;
  }

  const topo::NodeTopology& node_;
  const std::size_t gpus_;
  std::size_t each_ = 1, cores_ = 1;  // of each rank
  bool more_ = true;                  // a rank may have one core more
  bool idle_ = false;                 // cores may be left
  std::vector<RankBinding> ranks_;
  std::optional<BindingScore> best_;
};

class Random {
 public:
  explicit Random(unsigned seed) : random_(seed) {}

  unsigned below(unsigned limit) { return static_cast<unsigned>(random_() % limit); }

  void add(std::vector<topo::Device>& devices, unsigned count, unsigned numas, unsigned caches) {
    for (unsigned i = 0; i < count; ++i) {
      const unsigned numa = below(numas);
      topo::Device& device = devices.emplace_back();
      device.package = numa / 2;
      device.numa = numa;
      device.bridges = {numa, 100 + below(3)};
      if (below(3) == 0) device.l3 = numa * caches + below(caches);
    }
  }

  // Cores strewn over NUMA nodes and L3s, as a job gets them that shares the node with others.
  topo::NodeTopology machine(unsigned ranks, unsigned gpus) {
    const unsigned numas = 1 + below(3), caches = 1 + below(2);
    const unsigned cores = ranks + below(ranks == 3 ? 5 : 6);
    std::vector<std::pair<unsigned, unsigned>> places;
    for (unsigned core = 0; core < cores; ++core) {
      const unsigned numa = below(numas);
      places.emplace_back(numa, numa * caches + below(caches));
    }
    std::sort(places.begin(), places.end());
    topo::NodeTopology node;
    for (unsigned core = 0; core < cores; ++core)
      node.cores.push_back(
          {places[core].first / 2, places[core].first, places[core].second, {core}});
    add(node.gpus, gpus, numas, caches);
    // Ranks without GPUs take the adapter that is near their cores, and not the other way round.
    if (gpus > 0) add(node.nics, below(3), numas, caches);
    for (unsigned a = 0; gpus > 2 && a < gpus; ++a)
      for (unsigned b = a + 1; b < gpus; ++b)
        if (below(3) == 0) node.links.push_back({a, b, 1 + below(2)});
    return node;
  }

 private:
  std::mt19937 random_;
};

}  // namespace

TEST_CASE(
    "no way to give out GPUs, cores and adapters is better, on machines small enough to try all") {
  Random random(1);
  constexpr unsigned k_machines = tests::k_sanitized ? 150 : 1000;
  unsigned best_of_all = 0;
  for (unsigned round = 0; round < k_machines; ++round) {
    CAPTURE(round);
    BindRequest request;
    request.ranks = 1 + random.below(3);
    const unsigned gpus = request.ranks * random.below(request.ranks == 3 ? 2 : 3);
    const auto node = random.machine(request.ranks, gpus);
    request.gpus.resize(gpus);
    std::iota(request.gpus.begin(), request.gpus.end(), 0U);
    const auto each = static_cast<unsigned>(node.cores.size()) / request.ranks;
    if (random.below(3) == 0) request.cores_per_rank = 1 + random.below(each);
    const auto binding = bind_node(node, request);
    REQUIRE(binding);
    const BindingScore& ours = binding->score;
    const BindingScore best = BruteForce(node, request).best();
    CHECK(ours.gpu_packages == best.gpu_packages);
    CHECK(ours.gpu_numas == best.gpu_numas);
    CHECK(ours.linked == best.linked);
    CHECK(ours.gpu_paths == best.gpu_paths);
    CHECK(ours.near_cores == best.near_cores);
    CHECK(ours.home_distance == doctest::Approx(best.home_distance));
    CHECK(ours.fewest_cores == best.fewest_cores);
    CHECK(ours.unused_cores == best.unused_cores);
    CHECK(ours.mean_distance == doctest::Approx(best.mean_distance));
    if (!is_better(best, ours)) ++best_of_all;
  }
  MESSAGE(best_of_all << " of " << k_machines << " the best in every number");
  CHECK(best_of_all >= k_machines * 99 / 100);
}

}  // namespace dts::plan
