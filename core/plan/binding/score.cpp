// SPDX-License-Identifier: Apache-2.0
// Scores of a binding.
#include "core/plan/binding/binding.hpp"
#include "core/plan/cores/near_cores.hpp"
#include "core/plan/cores/share_cores.hpp"
#include "core/plan/cores/share_nics.hpp"
#include "core/plan/gpus/gpus_apart.hpp"
#include "core/topo/distance.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <tuple>

namespace dts::plan {
namespace {

using topo::NodeTopology;

// A missing home core counts as farther than any other.
constexpr std::int64_t k_missing = (topo::k_other_package + 1) * k_unit;

double mean(std::int64_t total, std::size_t count) {
  if (count == 0) return 0;
  return static_cast<double>(total) / static_cast<double>(k_unit) / static_cast<double>(count);
}

std::size_t cores_of(const RankBinding& rank) {
  return rank.home.size() + rank.annex.size();
}

// The number of home cores that each rank should have: the number that all ranks could have, but at
// most the largest number of cores that any rank has.
std::size_t home_cores(const NodeTopology& topology, const std::vector<RankBinding>& ranks) {
  std::size_t most = 0;
  for (const RankBinding& rank : ranks) most = std::max(most, cores_of(rank));
  const std::size_t equal = topology.cores.size() / std::max<std::size_t>(1, ranks.size());
  return std::min({std::size_t{k_home_cores}, most, std::max<std::size_t>(1, equal)});
}

void add_cores(BindingScore& result,
               const NodeTopology& topology,
               const std::vector<RankBinding>& ranks) {
  std::int64_t home_sum = 0, sum = 0;
  std::size_t homes = 0, all = 0;
  const std::size_t due = home_cores(topology, ranks);
  result.fewest_cores = static_cast<unsigned>(topology.cores.size());
  for (const RankBinding& rank : ranks) {
    std::vector<std::int64_t> distances;
    for (const auto* list : {&rank.home, &rank.annex})
      for (const unsigned core : *list) {
        distances.push_back(mean_distance(topology, rank.gpus, core));
        for (const unsigned gpu : rank.gpus)
          result.worst_distance = std::max(
              result.worst_distance, topo::distance(topology.cores[core], topology.gpus[gpu]));
      }
    const auto count = static_cast<unsigned>(distances.size());
    result.fewest_cores = std::min(result.fewest_cores, count);
    result.most_cores = std::max(result.most_cores, count);
    std::sort(distances.begin(), distances.end());
    const auto home = std::min<std::ptrdiff_t>(static_cast<std::ptrdiff_t>(due), count);
    sum += std::accumulate(distances.begin(), distances.end(), std::int64_t{0});
    const std::size_t missing = due - std::min<std::size_t>(due, count);
    const std::int64_t its_home = std::accumulate(distances.begin(),
                                                  distances.begin() + home,
                                                  static_cast<std::int64_t>(missing) * k_missing);
    result.farthest_home = std::max(result.farthest_home, mean(its_home, due));
    home_sum += its_home;
    homes += static_cast<std::size_t>(home) + missing;
    all += count;
  }
  result.home_distance = mean(home_sum, homes);
  result.mean_distance = mean(sum, all);
}

// Counts the ranks that use something. Equal ranks must be added one after another.
class Users {
 public:
  void add(std::size_t rank) {
    if (last_ != rank) ++count_;
    last_ = rank;
  }

  [[nodiscard]] unsigned count() const { return count_; }

  [[nodiscard]] bool several() const { return count_ > 1; }

 private:
  std::size_t last_ = ~std::size_t{0};
  unsigned count_ = 0;
};

void add_sharing(BindingScore& result,
                 const NodeTopology& topology,
                 const std::vector<RankBinding>& ranks) {
  std::vector<Users> cores(topology.cores.size());
  std::map<unsigned, Users> l3s, packages, numas;
  for (std::size_t rank = 0; rank < ranks.size(); ++rank)
    for (const auto* list : {&ranks[rank].home, &ranks[rank].annex})
      for (const unsigned number : *list) {
        const topo::Core& core = topology.cores[number];
        cores[number].add(rank);
        if (core.l3) l3s[*core.l3].add(rank);
        packages[core.package].add(rank);
        numas[core.numa].add(rank);
      }
  for (const Users& users : cores) {
    result.unused_cores += users.count() == 0 ? 1 : 0;
    result.shared_cores += users.several() ? 1 : 0;
  }
  for (const auto& [l3, users] : l3s) result.shared_l3 += users.several() ? 1 : 0;
  for (const auto& [package, users] : packages) result.package_span += users.count();
  for (const auto& [numa, users] : numas) {
    result.numa_span += users.count();
    result.numa_load = std::max(result.numa_load, users.count());
  }
}

void add_devices(BindingScore& result,
                 const NodeTopology& topology,
                 const std::vector<RankBinding>& ranks) {
  std::map<unsigned, unsigned> load;
  unsigned far = 0, with_nic = 0;
  for (const RankBinding& rank : ranks) {
    for (const unsigned nic : rank.nics) {
      far += nic_distance(topology, rank, nic);
      ++with_nic;
      result.nic_load = std::max(result.nic_load, ++load[nic]);
    }
  }
  if (with_nic > 0) result.nic_distance = static_cast<double>(far) / with_nic;
}

void add_gpus(BindingScore& result,
              const NodeTopology& topology,
              const std::vector<RankBinding>& ranks) {
  const GpuPairs pairs(topology);
  GpusApart apart;
  for (const RankBinding& rank : ranks) apart += pairs.of(rank.gpus);
  result.gpu_packages = apart.packages;
  result.linked = apart.linked;
  result.gpu_crossings = apart.crossings;
  result.gpu_numas = apart.numas;
  result.gpu_paths = apart.paths;
}

void add_near(BindingScore& result,
              const NodeTopology& topology,
              const std::vector<RankBinding>& ranks) {
  const NearCores near(topology);
  for (const RankBinding& rank : ranks) {
    unsigned& count = result.near_cores.emplace_back(0);
    for (const auto* list : {&rank.home, &rank.annex})
      for (const unsigned core : *list) count += near.contain(rank.gpus, core) ? 1 : 0;
  }
  std::sort(result.near_cores.begin(), result.near_cores.end());
}

// The criteria that precede the near cores of all ranks; below, those that follow.
auto first_order(const BindingScore& s) {
  return std::make_tuple(s.shared_cores,
                         ~s.fewest_cores,
                         s.unused_cores,
                         s.gpu_packages,
                         ~s.linked,
                         s.gpu_crossings,
                         s.near_cores.empty() ? 0 : ~s.near_cores.front(),
                         s.gpu_numas,
                         s.gpu_paths,
                         s.home_distance);
}

auto last_order(const BindingScore& s) {
  return std::make_tuple(s.mean_distance,
                         s.farthest_home,
                         s.nic_distance,
                         s.nic_load,
                         s.package_span,
                         s.shared_l3,
                         s.numa_load,
                         s.numa_span);
}

}  // namespace

bool is_better(const BindingScore& a, const BindingScore& b) {
  if (first_order(a) != first_order(b)) return first_order(a) < first_order(b);
  if (a.near_cores != b.near_cores) return a.near_cores > b.near_cores;
  return last_order(a) < last_order(b);
}

BindingScore score(const NodeTopology& topology, const std::vector<RankBinding>& ranks) {
  BindingScore result;
  add_cores(result, topology, ranks);
  add_sharing(result, topology, ranks);
  add_devices(result, topology, ranks);
  add_gpus(result, topology, ranks);
  add_near(result, topology, ranks);
  return result;
}

}  // namespace dts::plan
