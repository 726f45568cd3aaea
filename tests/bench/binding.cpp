// SPDX-License-Identifier: Apache-2.0
// What placements are worth and cost, beside hwloc_distrib, two of Slurm's distributions and
// torchrun's exclusive binding, on the described machines and on recorded ones: bench_binding
// [FOLDER].
#include "core/plan/binding/binding.hpp"

#include "core/base/files/files.hpp"
#include "core/topo/distance.hpp"
#include "core/topo/hwloc/load.hpp"
#include "tests/support/described.hpp"
#include "tests/support/temporary_folder.hpp"

#include <fmt/format.h>
#include <hwloc.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <functional>
#include <numeric>

namespace {

using namespace dts;
using topo::NodeTopology;

// Steps as the published comparison counts them: 0 the GPU's NUMA node, 1 its package, 2 another.
double mean_steps(const NodeTopology& node, const std::vector<plan::RankBinding>& ranks) {
  double sum = 0;
  std::size_t count = 0;
  for (const plan::RankBinding& rank : ranks)
    for (const auto* list : {&rank.home, &rank.annex})
      for (const unsigned core : *list)
        for (const unsigned gpu : rank.gpus) {
          const unsigned steps = topo::distance(node.cores[core], node.gpus[gpu]);
          sum += steps < topo::k_same_package ? 0 : steps - 1;
          ++count;
        }
  return count == 0 ? 0 : sum / static_cast<double>(count);
}

std::string words(const NodeTopology& node, std::vector<plan::RankBinding> ranks) {
  const plan::BindingScore s = plan::score(node, ranks);
  const std::size_t cores = node.cores.size();
  return fmt::format("{:4.2f} {:4.2f} {:3}% {:>3}-{:<3}",
                     s.home_distance,
                     mean_steps(node, ranks),
                     (cores - s.unused_cores) * 100 / cores,
                     s.fewest_cores,
                     s.most_cores);
}

std::vector<unsigned> numbers(std::size_t count) {
  std::vector<unsigned> list(count);
  std::iota(list.begin(), list.end(), 0U);
  return list;
}

plan::BindRequest request(const NodeTopology& node, unsigned ranks, plan::BindPolicy policy) {
  plan::BindRequest made;
  made.ranks = ranks;
  made.gpus = numbers(node.gpus.size());
  made.policy = policy;
  return made;
}

// Slurm distributes cores first, and then gives each task in turn the nearest GPU that is left
// (--gpu-bind=closest at its best).
std::string by_slurm(const NodeTopology& node, unsigned count, plan::BindPolicy policy) {
  auto ranks = plan::bind_node(node, request(node, count, policy))->ranks;
  std::vector<unsigned> left = numbers(node.gpus.size());
  for (plan::RankBinding& rank : ranks) {
    const auto far = [&](unsigned gpu) {
      unsigned sum = 0;
      for (const unsigned core : rank.home) sum += topo::distance(node.cores[core], node.gpus[gpu]);
      return sum;
    };
    const auto nearest = std::min_element(
        left.begin(), left.end(), [&](unsigned a, unsigned b) { return far(a) < far(b); });
    rank.gpus = {*nearest};
    left.erase(nearest);
  }
  return words(node, ranks);
}

// One rank a GPU: mean NUMA steps, % of cores used, fewest cores of a rank, as measured of mpibind
// 0.15 (LLNL) and published with the recorded machines' comparison.
struct Published {
  const char* machine;
  double steps;
  unsigned used, fewest;
};

constexpr Published k_mpibind[] = {{"jureca", 0.50, 100, 32},
                                   {"ipa20", 0.50, 100, 28},
                                   {"juwels", 0.50, 100, 12},
                                   {"corona", 0.50, 100, 12},
                                   {"8gpu-4nic", 0.00, 50, 8},
                                   {"pascal", 0.00, 50, 9},
                                   {"azure", 0.00, 100, 12},
                                   {"frontier", 0.00, 100, 8},
                                   {"lassen", 0.00, 100, 10},
                                   {"tuolumne-elcap_4xMI300A_SPX", 0.00, 100, 24},
                                   {"tuolumne-elcap_4xMI300A_CPX", 0.00, 100, 4}};

std::string by_mpibind(const std::string& name) {
  for (const Published& one : k_mpibind)
    if (name.starts_with(one.machine))
      return fmt::format("{:4.2f} {:3}% {:>3}", one.steps, one.used, one.fewest);
  return "-";
}

// hwloc_distrib() over the whole machine, GPUs in turn.
std::string by_hwloc(const std::string& file, const NodeTopology& node, unsigned ranks) {
  hwloc_topology_t topology = nullptr;
  hwloc_topology_init(&topology);
  hwloc_topology_set_xml(topology, file.c_str());
  if (hwloc_topology_load(topology) != 0) return "cannot load";
  std::vector<hwloc_cpuset_t> sets(ranks);
  hwloc_obj_t root = hwloc_get_root_obj(topology);
  hwloc_distrib(topology, &root, 1, sets.data(), ranks, INT_MAX, 0);
  std::vector<plan::RankBinding> bindings(ranks);
  for (unsigned rank = 0; rank < ranks; ++rank) {
    for (unsigned core = 0; core < node.cores.size(); ++core)
      if (hwloc_bitmap_isset(sets[rank], node.cores[core].pus[0]))
        bindings[rank].home.push_back(core);
    bindings[rank].gpus = {rank % static_cast<unsigned>(node.gpus.size())};
    hwloc_bitmap_free(sets[rank]);
  }
  hwloc_topology_destroy(topology);
  return words(node, bindings);
}

// torchrun --numa-binding exclusive: the cores of the GPU's own NUMA node, in runs.
std::string by_torchrun(const NodeTopology& node) {
  std::vector<plan::RankBinding> bindings(node.gpus.size());
  for (unsigned gpu = 0; gpu < node.gpus.size(); ++gpu) {
    const unsigned numa = node.gpus[gpu].numa.value_or(0);
    std::vector<unsigned> sharing, cores;
    for (unsigned other = 0; other < node.gpus.size(); ++other)
      if (node.gpus[other].numa.value_or(0) == numa) sharing.push_back(other);
    for (unsigned core = 0; core < node.cores.size(); ++core)
      if (node.cores[core].numa == numa) cores.push_back(core);
    const auto place =
        static_cast<std::size_t>(std::find(sharing.begin(), sharing.end(), gpu) - sharing.begin());
    for (std::size_t i = place * cores.size() / sharing.size();
         i < (place + 1) * cores.size() / sharing.size();
         ++i)
      bindings[gpu].home.push_back(cores[i]);
    bindings[gpu].gpus = {gpu};
  }
  return words(node, bindings);
}

double median_ms(const std::function<void()>& work) {
  std::vector<double> times;
  for (int i = 0; i < 21; ++i) {
    const auto begin = std::chrono::steady_clock::now();
    work();
    times.push_back(
        std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin)
            .count());
  }
  std::sort(times.begin(), times.end());
  return times[10];
}

// Of the described machines, written to `described`, and of the recorded ones in `folder`.
std::vector<std::string> files_of(const std::string& folder,
                                  const tests::TemporaryFolder& described) {
  std::vector<std::string> files;
  for (const std::string& name : tests::machine_names()) {
    files.push_back(described.file(name + ".xml"));
    if (!write_file(files.back(), tests::to_hwloc(*tests::read_machine(name)))) files.pop_back();
  }
  const std::size_t own = files.size();
  if (exists(folder))
    for (const auto& entry : std::filesystem::recursive_directory_iterator(folder))
      if (entry.path().extension() == ".xml") files.push_back(entry.path());
  std::sort(files.begin() + static_cast<std::ptrdiff_t>(own), files.end());
  return files;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string folder = argc > 1 ? argv[1] : "";
  const tests::TemporaryFolder described;
  const std::vector<std::string> files = files_of(folder, described);
  if (!exists(folder)) fmt::print("skipped: no folder {} with recorded topologies\n", folder);
  fmt::print(
      "n = GPUs: home distance, mean NUMA steps, cores used, cores of a rank; plan: median of "
      "21\n");
  fmt::print("{:24} {:>3} {:22} {:13} {:22} {:22} {:22} {:22} {}\n",
             "machine",
             "n",
             "dtsubmit auto",
             "mpibind",
             "Slurm cyclic",
             "Slurm block",
             "torchrun exclusive",
             "hwloc_distrib",
             "plan ms");
  for (const std::string& file : files) {
    const auto node = topo::load_xml(file);
    if (!node || node->gpus.empty()) continue;
    const auto ranks = static_cast<unsigned>(node->gpus.size());
    const auto asked = request(*node, ranks, plan::BindPolicy::automatic);
    fmt::print("{:24} {:>3} {:22} {:13} {:22} {:22} {:22} {:22} {:.3f}\n",
               std::filesystem::path(file).stem().string().substr(0, 24),
               ranks,
               words(*node, plan::bind_node(*node, asked)->ranks),
               by_mpibind(std::filesystem::path(file).stem().string()),
               by_slurm(*node, ranks, plan::BindPolicy::spread),
               by_slurm(*node, ranks, plan::BindPolicy::compact),
               by_torchrun(*node),
               by_hwloc(file, *node, ranks),
               median_ms([&] { (void)plan::bind_node(*node, asked); }));
  }
  auto large = *topo::load_synthetic("package:2 numa:4 l3:2 core:8 pu:2");
  for (unsigned gpu = 0; gpu < 8; ++gpu)
    large.gpus.push_back({fmt::format("0000:{:02x}:00.0", gpu + 1), gpu / 4, gpu, {}, {gpu}});
  large.nics = large.gpus;
  for (const unsigned ranks : {1U, 2U, 4U, 8U, 16U, 128U}) {
    const auto asked = request(large, ranks, plan::BindPolicy::automatic);
    fmt::print("256 PUs, 8 GPUs, 8 adapters, {:>3} ranks: {:.3f} ms (goal 1)\n",
               ranks,
               median_ms([&] { (void)plan::bind_node(large, asked); }));
  }
}
