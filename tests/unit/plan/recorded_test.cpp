// SPDX-License-Identifier: Apache-2.0
// Cores for ranks on recorded machines, whole and in part.
#include "core/base/files.hpp"
#include "core/plan/share_cores.hpp"
#include "core/topo/load.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <random>
#include <set>

namespace dts::plan {
namespace {

const std::string k_recorded = std::string(DTS_SOURCE_DIR) + "/../shared/topologies/";

// Rank i of n has the run [i*G/n, (i+1)*G/n) of the GPUs, or GPU i*G/n where there are fewer.
std::vector<std::vector<unsigned>> lists(std::size_t ranks, std::size_t gpus) {
  std::vector<std::vector<unsigned>> all(ranks);
  for (std::size_t rank = 0; gpus > 0 && rank < ranks; ++rank) {
    const std::size_t first = rank * gpus / ranks;
    for (std::size_t gpu = first; gpu < std::max(first + 1, (rank + 1) * gpus / ranks); ++gpu)
      all[rank].push_back(static_cast<unsigned>(gpu));
  }
  return all;
}

unsigned check_all_counts(const topo::NodeTopology& node) {
  const std::size_t gpus = node.gpus.size(), cores = node.cores.size();
  unsigned checked = 0;
  for (const std::size_t ranks :
       std::set<std::size_t>{1, 2, gpus / 2, gpus, gpus + 1, 2 * gpus, cores}) {
    if (ranks == 0) continue;
    const auto each = lists(ranks, gpus);
    const BindingScore result = score(node, share_cores(node, each));
    CAPTURE(ranks);
    REQUIRE(result.fewest_cores >= 1);
    REQUIRE(result.most_cores - result.fewest_cores <= 1);
    if (ranks <= cores) REQUIRE(result.unused_cores == 0);
    ++checked;
  }
  return checked;
}

}  // namespace

TEST_CASE(
    "recorded machines, in whole and in 200 random parts: every core is used, nobody is without") {
  if (!exists(k_recorded)) {
    MESSAGE("skipped: no folder " << k_recorded << " with recorded topologies");
    return;
  }
  unsigned checked = 0;
  for (const auto& entry : std::filesystem::directory_iterator(k_recorded)) {
    if (entry.path().extension() != ".xml") continue;
    CAPTURE(entry.path().filename().string());
    const auto node = topo::load_xml(entry.path());
    REQUIRE(node);
    checked += check_all_counts(*node);
    std::mt19937 random(1);
    for (unsigned part = 0; part < 200; ++part) {
      topo::NodeTopology some = *node;
      const auto keep = 1 + random() % 9;
      std::erase_if(some.cores, [&](const topo::Core&) { return random() % 10 >= keep; });
      if (!some.cores.empty()) checked += check_all_counts(some);
    }
  }
  MESSAGE(checked << " placements");
  CHECK(checked > 10'000);
}

TEST_CASE("recorded machines, one rank a GPU: as near as measured by hand, and no core idle") {
  struct Expected {
    const char* file;
    double home, mean;  // topo::distance()
  };

  // Home cores are in the GPU's own part wherever it has one. The mean is 0 where every NUMA node
  // has its GPUs, 1 where half of the cores are those of the package's other nodes (steps 0 and 2).
  const Expected table[] = {
      {"azure-ndv5-8xH100-8ib-2xSPR48c-nosmt.xml", 0, 0},
      {"frontier-tioga_1xEPYC7A53-NPS4_8xMI250X-GCD_4xSlingshot.xml", 0, 0},
      {"lassen_2xPOWER9-SMT4_4xV100_4ib_16disallowedPU.xml", 0, 0},
      {"tuolumne-elcap_4xMI300A_SPX_4gpu.xml", 0, 0},
      {"8gpu-4nic-2xEPYC7742-NPS4-dgxa100like.xml", 0, 1},
      {"jureca-dc_2xEPYC7742-NPS4_4xA100_4ib+gpuos.xml", 0, 1},
      {"ipa20_2xSPR8480-SNC4_4xH100_ib.xml", 0, 1},
  };
  if (!exists(k_recorded)) return;
  for (const Expected& expected : table) {
    CAPTURE(std::string(expected.file));
    const auto node = topo::load_xml(k_recorded + expected.file);
    REQUIRE(node);
    const auto each = lists(node->gpus.size(), node->gpus.size());
    const BindingScore result = score(*node, share_cores(*node, each));
    CHECK(result.home_distance == doctest::Approx(expected.home));
    CHECK(result.mean_distance == doctest::Approx(expected.mean));
    CHECK(result.unused_cores == 0);
  }
}

}  // namespace dts::plan
