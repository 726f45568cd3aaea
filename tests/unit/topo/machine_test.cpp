// SPDX-License-Identifier: Apache-2.0
// The described machines: what their text means, what is wrong with one, and that all of them load.
#include "core/base/files/files.hpp"
#include "core/topo/distance.hpp"
#include "tests/support/described.hpp"
#include "tests/support/source_dir.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <random>

namespace dts::topo {
namespace {

NodeTopology loaded(const std::string& text) {
  const auto machine = tests::parse_machine(text, "m");
  if (!machine) FAIL(machine.error().message);
  const auto node = tests::load_machine(*machine);
  if (!node) FAIL(node.error().message);
  return *node;
}

std::vector<unsigned> pus_of(const std::vector<Core>& cores) {
  std::vector<unsigned> pus;
  for (const Core& core : cores) pus.insert(pus.end(), core.pus.begin(), core.pus.end());
  return pus;
}

}  // namespace

TEST_CASE("parts of a described machine: how many, with which numbers") {
  const NodeTopology by_thread = loaded("package x2\n  numa memory 2G\n    core x2 smt 2\n");
  CHECK(pus_of(by_thread.cores) == std::vector<unsigned>{0, 4, 1, 5, 2, 6, 3, 7});
  CHECK(by_thread.cores[2].package == 1);
  CHECK(by_thread.cores[2].numa == 1);
  CHECK_FALSE(by_thread.cores[0].l3);
  CHECK(by_thread.numas[1].bytes == 2ULL << 30);

  const NodeTopology by_core = loaded("number by-core\npackage x2\n  l3 x2\n    core smt 2\n");
  CHECK(pus_of(by_core.cores) == std::vector<unsigned>{0, 1, 2, 3, 4, 5, 6, 7});
  CHECK(by_core.cores[3].l3 == 3U);
  CHECK(by_core.numas.size() == 1);

  const NodeTopology odd = loaded(
      "numa os 8 memory 1M\n  core x2 smt 2 pus 10,20,30,7\nnuma os 2\n  core\n"
      "memory 4G os 5 subtype GPUMemory\n");
  CHECK(pus_of(odd.cores) == std::vector<unsigned>{0, 7, 30, 10, 20});
  REQUIRE(odd.numas.size() == 3);
  CHECK(odd.numas[0].os == 2);
  CHECK(odd.numas[1].os == 8);
  CHECK(odd.numas[2].os == 5);
  CHECK_FALSE(odd.numas[2].has_cores);
}

TEST_CASE("Amazon's adapters of four generations are known by their numbers") {
  std::string text = "package\n  numa memory 1G\n    core\n";
  for (unsigned generation = 0; generation < 4; ++generation)
    text += fmt::format("host at numa 0\n  nic {0}0:00.0 1d0f:efa{0} ethernet verbs rdmap{0}\n",
                        generation);
  const NodeTopology node = loaded(text);
  std::vector<unsigned> speeds;
  for (const Nic& nic : node.nics) {
    CHECK(nic.network == Network::efa);
    speeds.push_back(nic.gbps);
  }
  CHECK(speeds == std::vector<unsigned>{100, 100, 200, 400});
}

TEST_CASE(
    "processors of a described machine that are offline, or may not be used, and their kinds") {
  const NodeTopology node = loaded(
      "kind slow capacity 512\nkind fast capacity 1024\n"
      "package x2\n  core x2 kind fast\n  core x2 kind slow\n"
      "offline 0,7\ndisallowed 1,2\n");
  CHECK(pus_of(node.cores) == std::vector<unsigned>{3, 4, 5, 6});
  CHECK(pus_of(node.closed) == std::vector<unsigned>{1, 2});
  CHECK(node.cores[0].kind == 0);
  CHECK(node.cores[1].kind == 1);
  CHECK(pus_of(loaded("core x4\nallowed 2-3\n").cores) == std::vector<unsigned>{2, 3});
}

TEST_CASE("devices of a described machine: places, ports, links") {
  const NodeTopology node = loaded(
      "package x2\n  numa x2\n    l3 x2\n      core\n"
      "host at l3 3\n"
      "  switch gen5 x16\n"
      "    gpu 03:00.0 10de:2330 gen5 x16 cuda0 nvml0\n"
      "    nic 04:00.0 15b3:1021 infiniband gen5 x16 verbs mlx5_0 net ib0 rate 400\n"
      "  gpu 05:00.0 1002:7408 display rsmi0 rsmi1\n"
      "host at package 1\n"
      "  port gen3 x8\n"
      "    nic 0001:01:00.0 15b3:1015 ethernet gen3 x8 verbs mlx5_1 rate 25\n"
      "    nic 0001:01:00.1 15b3:1015 ethernet gen3 x8 verbs mlx5_2\n"
      "host at machine\n"
      "  pci 0002:00:02.0 102b:0534 class 0300\n"
      "nvlink 5000 nvml0 rsmi0\n");
  REQUIRE(node.gpus.size() == 3);
  CHECK(node.gpus[0].name == "nvml0");
  CHECK(node.gpus[0].numa == 1U);
  CHECK(node.gpus[0].l3 == 3U);
  CHECK(node.gpus[2].part == 1);
  REQUIRE(node.nics.size() == 3);
  CHECK(node.nics[0].network == Network::infiniband);
  CHECK(node.nics[1].network == Network::ethernet);
  CHECK(node.nics[1].pci == "0001:01:00.0");
  CHECK(node.nics[1].package == 1U);
  CHECK_FALSE(node.nics[1].numa);
  CHECK(path(node.gpus[0], node.nics[0]) == Path::pix);
  CHECK(path(node.gpus[1], node.nics[0]) == Path::phb);
  CHECK(path(node.nics[1], node.nics[2]) == Path::pix);
  REQUIRE(node.fabric.size() == 2);
  CHECK(node.fabric[0].gbps == 400);
  CHECK(node.fabric[0].infiniband);
  CHECK_FALSE(node.fabric[1].infiniband);
  REQUIRE(node.links.size() == 1);
  CHECK(node.links[0].weight == 5000);
}

TEST_CASE("problems of a description are reported with their places, all at once") {
  struct Row {
    const char* text;
    const char* says;
  };

  for (const Row& row : {
           Row{"", "without a core"},
           Row{"cores x2\n", "m:1:1: `cores` is no keyword\n    | cores x2\n    | ^"},
           Row{"package\n\tcore\n", "m:2:1: a tab"},
           Row{"  core\n", "m:1:3: indented, but below nothing"},
           Row{"package\n    core\n  core\n", "m:3:3: neither below"},
           Row{"package x0\n  core\n", "m:1:9: `x0` is not x1 to x1024"},
           Row{"package\n", "m:1:1: no core is in it"},
           Row{"core x2 smt\n", "m:1:12: threads is missing"},
           Row{"core x2 smt 99\n", "m:1:13: threads is a number up to 64, not `99`"},
           Row{"core fast\n", "m:1:6: `fast` is nothing that `core` has"},
           Row{"core kind fast\n", "m:1:11: there is no kind `fast`"},
           Row{"core\n  core\n", "m:2:3: nothing is within `core`"},
           Row{"numa\n  package\n    core\n", "m:2:3: `package` within `numa`"},
           Row{"numa memory 3X\n  core\n", "m:1:13: `3X` is no size"},
           Row{"core x2 pus 1,1\n", "m:1:1: processor 1 comes twice"},
           Row{"core x2 pus 1\n", "m:1:1: 1 numbers for 2"},
           Row{"group x1024\n  group x1024\n    core x1024\n", "more than 20000 parts"},
           Row{"core\noffline 9\n", "m:2:9: there is no processor 9"},
           Row{"core\noffline 1-\n", "m:2:9: `1-` is no list"},
           Row{"core\nnumber\n", "m:2:7: by-core, by-thread is missing"},
           Row{"core\nnumber by-luck\n", "m:2:8: `by-luck` is nothing that `number` has"},
           Row{"core\nhost\n  pci 01:00.0 1:2\n", "m:2:1: where is it?"},
           Row{"core\nhost at numa 1\n  pci 01:00.0 1:2\n", "m:2:9: there is no numa 1"},
           Row{"core\nhost at l3\n  pci 01:00.0 1:2\n", "m:2:11: its number is missing"},
           Row{"core\nhost at machine\n", "m:2:1: nothing is behind it"},
           Row{"core\nhost at machine\n  card 01:00.0\n", "m:3:3: `card` is no PCI device"},
           Row{"core\nhost at machine\n  gpu\n",
               "m:3:6: a PCI address and VENDOR:DEVICE is missing"},
           Row{"core\nhost at machine\n  gpu 01:00 1:2\n", "m:3:7: `01:00` is no PCI address"},
           Row{"core\nhost at machine\n  gpu 01:00.0 10de\n",
               "m:3:15: `10de` is not VENDOR:DEVICE"},
           Row{"core\nhost at machine\n  gpu 01:00.0 1:2 gen9 x1\n", "m:3:19: `gen9` is not gen1"},
           Row{"core\nhost at machine\n  gpu 01:00.0 1:2 gen4\n", "m:3:19: how many lanes?"},
           Row{"core\nhost at machine\n  nic 01:00.0 1:2 nvml0 fast\n",
               "m:3:25: `fast` is nothing"},
           Row{"core\nnvlink 5 nvml0 nvml1\n", "m:2:10: there is no GPU `nvml0`"},
           Row{"core\nnvlink 5 nvml0\n", "m:2:1: which GPUs"},
           Row{"numa x2\n  core\ndistances 10 20\n", "m:3:1: 2 numbers for 2 NUMA nodes"},
           Row{"numa\n  core\ndistances\n  0\n", "m:4:3: a distance is 1 to 255"},
       }) {
    CAPTURE(std::string(row.text));
    const auto machine = tests::parse_machine(row.text, "m");
    REQUIRE_FALSE(machine);
    CAPTURE(machine.error().message);
    CHECK(machine.error().code == Errc::invalid);
    CHECK(machine.error().message.find(row.says) != std::string::npos);
  }
  const auto two = tests::parse_machine("core x\nnumas\n", "m");
  REQUIRE_FALSE(two);
  CHECK(two.error().message.find("m:1:6") != std::string::npos);
  CHECK(two.error().message.find("m:2:1") != std::string::npos);
}

TEST_CASE("a damaged description is understood or refused, and nothing else") {
  std::mt19937 random(1);
  unsigned refused = 0;
  for (const char* name : {"uneven", "dgx-spark", "frontier"}) {
    const std::string whole =
        *read_file(tests::in_source("tests/data/machines/" + std::string(name) + ".machine"));
    for (unsigned round = 0; round < 400; ++round) {
      std::string text = whole;
      for (unsigned i = 0; i <= round % 3; ++i) {
        const std::size_t at = random() % text.size();
        if (round % 2 == 0)
          text.erase(at, 1 + random() % 20);
        else
          text[at] = static_cast<char>(random() % 256);
        if (text.empty()) text.assign(1, ' ');
      }
      const auto machine = tests::parse_machine(text, "m");
      if (machine) REQUIRE_FALSE(tests::to_hwloc(*machine).empty());
      refused += machine ? 0 : 1;
    }
  }
  CHECK(refused > 300);
}

}  // namespace dts::topo
