// SPDX-License-Identifier: Apache-2.0
// GPUs, network adapters and what is between them, on recorded machines and on made ones.
#include "core/base/files/files.hpp"
#include "core/topo/distance.hpp"
#include "core/topo/doubts.hpp"
#include "core/topo/hwloc/load.hpp"
#include "core/topo/override.hpp"
#include "core/topo/restrict.hpp"
#include "tests/support/described.hpp"
#include "tests/support/recorded.hpp"
#include "tests/support/source_dir.hpp"
#include "tests/support/temporary_folder.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <functional>

namespace dts::topo {
namespace {

using tests::have_recorded;
using tests::k_recorded;

NodeTopology two_packages() {
  NodeTopology node = *load_synthetic("package:2 numa:2 core:2 pu:2");
  node.gpus = {{"0000:01:00.0", {}, {}, {}}, {"0000:02:00.0", {}, {}, {}}};
  return node;
}

std::string names(const std::vector<Nic>& nics) {
  std::string text;
  for (const Nic& nic : nics)
    text += nic.name + (nic.network == Network::ethernet ? "e" : "") + "@" +
            (nic.numa ? std::to_string(*nic.numa) : "-") + " ";
  return text;
}

std::string paths_to_nics(const NodeTopology& node) {
  std::string paths;
  for (const Gpu& gpu : node.gpus) {
    Path best = Path::sys;
    for (const Nic& nic : node.nics) best = std::min(best, path(gpu, nic));
    paths += std::string(to_string(best)) + " ";
  }
  return paths;
}

}  // namespace

TEST_CASE("described machines: adapters, paths to the GPUs, links") {
  struct Expected {
    const char* name;
    const char* nics;   // name@numa
    const char* paths;  // of each GPU, to its nearest adapter
    std::size_t links;
  };

  for (const Expected& expected :
       {Expected{
            "dgx-a100",
            "mlx5_0@3 mlx5_1@3 mlx5_2@1 mlx5_3@1 mlx5_4e@2 mlx5_5e@2 mlx5_6@7 mlx5_7@7 mlx5_8@5 "
            "mlx5_9@5 ",
            "PXB PXB PXB PXB PXB PXB PXB PXB ",
            28},
        Expected{
            "frontier", "hsi0@3 hsi1@1 hsi2@0 hsi3@2 ", "NODE PHB NODE PHB NODE PHB NODE PHB ", 28},
        Expected{"spr-snc4-h100", "mlx5_0@3 mlx5_1@3 mlx5_2@1 mlx5_3@5 ", "PIX PIX PKG PIX ", 6},
        Expected{"gb200-tray",
                 "mlx5_0@2 mlx5_1@2 mlx5_4e@2 mlx5_2@5 mlx5_3@5 ",
                 "NODE NODE NODE NODE ",
                 6},
        Expected{"hgx-b300",
                 "rdmap64s0@0 rdmap65s0@0 rdmap80s0@0 rdmap81s0@0 rdmap96s0@0 rdmap97s0@0 "
                 "rdmap112s0@0 rdmap113s0@0 rdmap128s0@1 rdmap129s0@1 rdmap144s0@1 rdmap145s0@1 "
                 "rdmap160s0@1 rdmap161s0@1 rdmap176s0@1 rdmap177s0@1 ibp198s0f0@1 ibp199s0f0@1 ",
                 "PIX PIX PIX PIX PIX PIX PIX PIX ",
                 28},
        Expected{"knl-snc4-flat", "hfi1_0@0 ", "", 0},
        Expected{
            "power9-lassen", "mlx5_0@0 mlx5_1@0 mlx5_2@1 mlx5_3@1 ", "NODE NODE NODE NODE ", 2}}) {
    CAPTURE(std::string(expected.name));
    const auto node = tests::load_machine(expected.name);
    REQUIRE(node);
    CHECK(names(node->nics) == expected.nics);
    CHECK(paths_to_nics(*node) == expected.paths);
    CHECK(node->links.size() == expected.links);
  }
}

TEST_CASE("recorded machines: adapters, paths to the GPUs, links, kinds of core") {
  struct Expected {
    const char* file;
    const char* nics;   // name@numa
    const char* paths;  // of each GPU, to its nearest adapter
    std::size_t links;
  };

  const Expected table[] = {
      {"8gpu-4nic-2xEPYC7742-NPS4-dgxa100like.xml",
       "mlx5_3@3 mlx5_1@1 mlx5_7@7 mlx5_5@5 ",
       "PXB PXB PXB PXB PXB PXB PXB PXB ",
       0},
      {"azure-ndv5-8xH100-8ib-2xSPR48c-nosmt.xml",
       "mlx5_0@0 mlx5_1@0 mlx5_2@0 mlx5_3@0 mlx5_4@1 mlx5_5@1 mlx5_6@1 mlx5_7@1 ",
       "PIX PIX PIX PIX PIX PIX PIX PIX ",
       0},
      {"frontier-tioga_1xEPYC7A53-NPS4_8xMI250X-GCD_4xSlingshot.xml",
       "hsi0@3 hsi1@1 hsi2@0 hsi3@2 ",
       "NODE PHB NODE PHB NODE PHB NODE PHB ",
       28},
      {"ipa20_2xSPR8480-SNC4_4xH100_ib.xml",
       "mlx5_0@3 mlx5_1@3 mlx5_2@1 mlx5_3@5 ",
       "PIX PIX PKG PIX ",
       6},
      {"laptop-hybrid_i7-1370P_6P+8E.xml", "", "", 0},
      {"lassen_2xPOWER9-SMT4_4xV100_4ib_16disallowedPU.xml",
       "mlx5_0@0 mlx5_1@0 mlx5_2@1 mlx5_3@1 ",
       "NODE NODE NODE NODE ",
       0},
  };
  for (const Expected& expected : table) {
    CAPTURE(std::string(expected.file));
    if (!have_recorded(expected.file)) continue;
    const auto node = load_xml(k_recorded + expected.file);
    REQUIRE(node);
    CHECK(names(node->nics) == expected.nics);
    CHECK(paths_to_nics(*node) == expected.paths);
    CHECK(node->links.size() == expected.links);
  }
}

TEST_CASE("fast and slow cores, and memory without cores") {
  const auto fast = [](const Core& core) { return core.kind == 1; };
  const auto described = tests::load_machine("laptop-hybrid");
  REQUIRE(described);
  CHECK(std::count_if(described->cores.begin(), described->cores.end(), fast) == 6);
  for (const char* name : {"gh200-quad", "gb200-tray", "aurora"}) {
    CAPTURE(std::string(name));
    const auto node = tests::load_machine(name);
    REQUIRE(node);
    CHECK(os_number(*node, node->cores[0].numa) ==
          0);  // DRAM, in whatever order memory is recorded
    CHECK(std::count_if(node->numas.begin(), node->numas.end(), [](const NumaNode& one) {
            return one.has_cores;
          }) == node->cores.back().package + 1);
    CHECK(node->numas.back().package == node->cores.back().package);
  }
  const std::string laptop = "laptop-hybrid_i7-1370P_6P+8E.xml";
  if (have_recorded(laptop)) {
    const auto hybrid = load_xml(k_recorded + laptop);
    CHECK(std::count_if(hybrid->cores.begin(), hybrid->cores.end(), fast) == 6);
  }
  const std::string quad = "gh200-quad-gpunuma-kept.xml";
  if (!have_recorded(quad)) return;
  const auto grace = load_xml(k_recorded + quad);
  REQUIRE(grace->numas.size() == 8);
  CHECK_FALSE(grace->numas[1].has_cores);
  CHECK(grace->numas[2].os == 1);
  CHECK(grace->numas[2].package == 1U);
}

TEST_CASE("the path between two devices is told by the bridges that they share") {
  const auto device = [](std::vector<unsigned> bridges, std::optional<unsigned> numa) {
    return Device{"", numa ? *numa / 2 : 0, numa, {}, std::move(bridges)};
  };

  struct Case {
    std::vector<unsigned> a, b;
    unsigned numa_b;
    Path expected;
  };

  const Case table[] = {
      {{0, 1, 2, 3}, {0, 1, 2, 4}, 0, Path::pix},  // two ports of one switch
      {{0, 1}, {0, 1}, 0, Path::pix},              // two functions behind one root port
      {{0, 1, 2, 3, 5}, {0, 1, 2, 4}, 0, Path::pxb},
      {{0, 1}, {0, 2}, 0, Path::phb},
      {{0}, {0}, 0, Path::phb},
      {{0, 1}, {5, 6}, 0, Path::node},
      {{0, 1}, {5, 6}, 1, Path::pkg},  // another NUMA node of the same package
      {{0, 1}, {5, 6}, 2, Path::sys},
      {{}, {}, 0, Path::node},
      {{}, {0, 1}, 1, Path::pkg},
      {{}, {0, 1}, 3, Path::sys},
  };
  for (const Case& one : table) {
    CAPTURE(to_string(one.expected));
    CHECK(path(device(one.a, 0), device(one.b, one.numa_b)) == one.expected);
    CHECK(path(device(one.b, one.numa_b), device(one.a, 0)) == one.expected);
  }
}

TEST_CASE("devices of a machine with one package are in it, wherever they are attached") {
  const char* k_devices =
      "host at numa 1\n  gpu 21:00.0 10de:2330\n"
      "host at machine\n  gpu 41:00.0 10de:2330\n"
      "host at machine\n  nic 61:00.0 15b3:1021 infiniband verbs mlx5_0\n";
  for (const unsigned packages : {0U, 1U, 2U}) {
    CAPTURE(packages);
    std::string text = packages == 0 ? "" : "package x" + std::to_string(packages) + "\n ";
    text += "numa x2 memory 1G\n   core x2\n";
    const auto machine = tests::parse_machine(text + k_devices, "m");
    if (!machine) FAIL(machine.error().message);
    const auto node = tests::load_machine(*machine);
    REQUIRE(node);
    REQUIRE(node->gpus.size() == 2);
    REQUIRE(node->nics.size() == 1);
    const Path expected = packages < 2 ? Path::pkg : Path::sys;
    CHECK(path(node->gpus[0], node->nics[0]) == expected);
    CHECK(path(node->gpus[0], node->gpus[1]) == expected);
    for (const Core& core : node->cores) CHECK(distance(core, node->gpus[1]) == 0);
  }
}

TEST_CASE("firmware that can hardly be right is doubted") {
  NodeTopology node = two_packages();
  CHECK(find_doubts(node).size() == 1);
  CHECK(find_doubts(node)[0].find("0000:01:00.0, 0000:02:00.0") != std::string::npos);
  for (Gpu& gpu : node.gpus) {
    gpu.package = 0;
    gpu.numa = 0;
  }
  CHECK(find_doubts(node).empty());  // two GPUs on one of two packages are built
  node.gpus.insert(node.gpus.end(), node.gpus.begin(), node.gpus.end());
  REQUIRE(find_doubts(node).size() == 1);
  CHECK(find_doubts(node)[0].find("all 4 GPUs are attached to package 0 of 2") == 0);
  node.gpus[3].package = 1;
  CHECK(find_doubts(node).empty());
  for (Gpu& gpu : node.gpus) gpu.package.reset();  // one NUMA node spans both packages
  CHECK(find_doubts(node).empty());
}

TEST_CASE("a device is in the package around which hwloc 1 had a NUMA node") {
  const auto node = load_xml(tests::in_source("tests/data/topologies/hwloc1.xml"));
  REQUIRE(node);
  REQUIRE(node->gpus.size() == 2);
  for (unsigned i = 0; i < 2; ++i) {
    CHECK(node->gpus[i].package == i);
    CHECK(node->gpus[i].numa == i);
  }
}

TEST_CASE("a device at several packages or NUMA nodes is near their cores, and no others") {
  const auto node = tests::load_machine("gpus-at-boards");
  REQUIRE(node);
  REQUIRE(node->gpus.size() == 4);
  CHECK(node->gpus[0].group == std::vector<unsigned>{0, 1});
  CHECK(node->gpus[1].group == std::vector<unsigned>{2, 3});
  CHECK(node->gpus[1].package == 2U);
  CHECK(node->nics[3].group == std::vector<unsigned>{8, 9});
  for (const Core& core : node->cores) {
    CHECK(distance(core, node->gpus[0]) == (core.package < 2 ? 0 : k_other_package));
    CHECK(distance(core, node->gpus[1]) == (core.numa == 2 || core.numa == 3 ? 0
                                            : core.numa == 4                 ? k_same_package
                                                                             : k_other_package));
  }
  CHECK(node->doubts.empty());
  const auto moved = apply_override(*node, "device 0000:11:00.0 numa 9\n", "f");
  REQUIRE(moved);
  CHECK(moved->gpus[0].group.empty());
}

TEST_CASE("packages without processors, and processors outside of all packages") {
  const auto object = [](const std::string& type, const char* cpus, const char* nodes) {
    return fmt::format(
        "<object type=\"{}\" cpuset=\"{}\" complete_cpuset=\"{}\" nodeset=\"{}\" "
        "complete_nodeset=\"{}\"",
        type,
        cpus,
        cpus,
        nodes,
        nodes);
  };
  const auto numa = [&](unsigned os, const char* cpus, const char* nodes) {
    return object("NUMANode", cpus, nodes) +
           fmt::format(
               " os_index=\"{}\" gp_index=\"{}\" local_memory=\"1073741824\"/>\n", os, 20 + os);
  };
  const auto core = [&](unsigned pu, const char* cpus, const char* nodes) {
    return object("Core", cpus, nodes) +
           fmt::format(" os_index=\"{}\" gp_index=\"{}\">", pu, 30 + pu) +
           object("PU", cpus, nodes) +
           fmt::format(" os_index=\"{}\" gp_index=\"{}\"/></object>\n", pu, 40 + pu);
  };
  const tests::TemporaryFolder folder;
  REQUIRE(write_file(
      folder.file("m.xml"),
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<!DOCTYPE topology SYSTEM \"hwloc2.dtd\">\n"
      "<topology version=\"2.0\">\n" +
          object("Machine", "0x3", "0x7") +
          " os_index=\"0\" allowed_cpuset=\"0x3\" allowed_nodeset=\"0x7\" gp_index=\"1\">\n" +
          numa(2, "0x3", "0x4") + object("Package", "0x1", "0x5") +
          " os_index=\"0\" gp_index=\"2\">\n" + numa(0, "0x1", "0x1") + core(0, "0x1", "0x5") +
          "</object>\n" + object("Package", "0x0", "0x2") + " os_index=\"1\" gp_index=\"3\">\n" +
          numa(1, "0x0", "0x2") +
          "<object type=\"Bridge\" gp_index=\"50\" bridge_type=\"0-1\" depth=\"0\" "
          "bridge_pci=\"0000:[01-01]\">\n<object type=\"PCIDev\" gp_index=\"51\" "
          "pci_busid=\"0000:01:00.0\" pci_type=\"0302 [10de:2330] [0000:0000] 00\" "
          "pci_link_speed=\"0\"/>\n</object>\n</object>\n" +
          core(1, "0x2", "0x4") + "</object>\n</topology>\n"));
  const auto node = load_xml(folder.file("m.xml"));
  if (!node) FAIL(node.error().message);
  REQUIRE(node->cores.size() == 2);
  CHECK(node->cores[0].package == 0);
  CHECK(node->cores[1].package == 2);
  REQUIRE(node->gpus.size() == 1);
  CHECK(node->gpus[0].package == 1U);
  for (const NumaNode& one : node->numas)
    CHECK(one.package == (one.os == 2 ? std::nullopt : std::optional(one.os)));
}

TEST_CASE("virtual functions are no adapters of their own beside their physical one") {
  const auto node = tests::load_machine("virtual-functions");
  REQUIRE(node);
  CHECK(names(node->nics) == "mlx5_0e@0 mlx5_1e@1 mlx5_2e@1 ");
  CHECK(node->notes ==
        std::vector<std::string>{"12 virtual functions of mlx5_2 left out (the same port)"});
  std::string machine =
      *read_file(tests::in_source("tests/data/machines/virtual-functions.machine"));
  const auto physical = machine.find("15b3:101d");
  REQUIRE(physical != std::string::npos);
  machine.replace(physical, 9, "15b3:101e");  // as a virtual machine sees them
  const auto guest = tests::load_machine(*tests::parse_machine(machine, "m"));
  REQUIRE(guest);
  CHECK(guest->nics.size() == 15);
}

TEST_CASE("an override file moves devices and closes cores, and all its faults are told at once") {
  const auto node = apply_override(two_packages(),
                                   "# where they really are\n"
                                   "device 0000:01:00.0 numa 3  # the second package\n"
                                   "device 0000:77:00.0 numa 0\n\n"
                                   "device 0000:02:00.0 numa 0\n"
                                   "reserve 0-1,4\n",
                                   "f");
  REQUIRE(node);
  CHECK(node->gpus[0].numa == 3U);
  CHECK(node->gpus[0].package == 1U);
  CHECK(node->doubts.empty());
  CHECK(node->cores.size() == 7);
  CHECK(node->cores[1].pus == std::vector<unsigned>{5});
  REQUIRE(node->closed.size() == 1);
  CHECK(node->closed[0].pus == std::vector<unsigned>{0, 1});

  const auto bad = apply_override(
      two_packages(), "gpu 0 numa 1\ndevice x numa 9\ndevice x\nreserve a\n  reserve\n", "f");
  REQUIRE_FALSE(bad);
  for (const char* words : {"f:1:1: `gpu` is not a keyword",
                            "f:2:15: this node has no NUMA node `9`",
                            "f:3:1: ",
                            "f:4:9: ",
                            "f:5:3: "}) {
    CAPTURE(words);
    CHECK(bad.error().message.find(words) != std::string::npos);
  }
  CHECK(apply_override(two_packages(), "reserve 0-99\n", "f").error().message.find("every core") !=
        std::string::npos);
}

TEST_CASE("memory of a whole package does not hide that a GPU is alike to its NUMA nodes") {
  const auto node = load_xml(tests::in_source("tests/data/topologies/uneven.xml"));
  REQUIRE(node);
  REQUIRE(node->numas.size() == 5);
  CHECK_FALSE(node->numas[4].has_cores);
  REQUIRE(node->gpus.size() == 4);
  CHECK(node->gpus[2].numa == 1U);
  CHECK(node->gpus[3].package == 1U);
  CHECK_FALSE(node->gpus[3].numa);
  for (const Core& core : node->cores)
    CHECK(distance(core, node->gpus[3]) == (core.package == 1 ? 0 : k_other_package));
}

TEST_CASE("consoles are no GPUs, nor is the processor's own graphics beside NVIDIA's") {
  const std::string machine =
      *read_file(tests::in_source("tests/data/topologies/uneven.xml"));  // 4 GPUs
  const std::string k_gpu = "0302 [10de:20b0]";
  const tests::TemporaryFolder folder;

  struct Row {
    const char* what;
    const char* first;   // instead of the first GPU
    const char* others;  // instead of the others
    std::size_t gpus;
  };

  for (const Row& row : {Row{"ES1000 beside NVIDIA", "0300 [1002:515e]", "0302 [10de:20b0]", 3},
                         Row{"ES1000 alone", "0300 [1002:515e]", "0300 [102b:0534]", 0},
                         Row{"Rage XL beside AMD", "0300 [1002:4752]", "0380 [1002:7408]", 3},
                         Row{"Ryzen's beside NVIDIA", "0300 [1002:164e]", "0302 [10de:20b0]", 3},
                         Row{"Ryzen's beside AMD", "0300 [1002:164e]", "0380 [1002:7408]", 4},
                         Row{"Instinct beside NVIDIA", "0380 [1002:7408]", "0302 [10de:20b0]", 4},
                         Row{"Intel's beside NVIDIA", "0300 [8086:a780]", "0300 [10de:2684]", 3}}) {
    CAPTURE(std::string(row.what));
    std::string text = machine;
    bool first = true;
    for (std::size_t at = 0; (at = text.find(k_gpu, at)) != std::string::npos; at += k_gpu.size()) {
      text.replace(at, k_gpu.size(), first ? row.first : row.others);
      first = false;
    }
    REQUIRE(write_file(folder.file("machine.xml"), text));
    const auto node = load_xml(folder.file("machine.xml"));
    REQUIRE(node);
    CHECK(node->gpus.size() == row.gpus);
  }
}

TEST_CASE("graphics beside NVIDIA's GPUs are left out, and it is said of which") {
  const std::string machine =
      *read_file(tests::in_source("tests/data/topologies/uneven.xml"));  // 4 GPUs
  const std::string k_gpu = "0302 [10de:20b0]";
  const tests::TemporaryFolder folder;
  for (const char* card : {"0300 [1002:6863]", "0300 [8086:56a0]"}) {  // Vega, Arc
    CAPTURE(std::string(card));
    std::string text = machine;
    text.replace(text.find(k_gpu), k_gpu.size(), card);
    REQUIRE(write_file(folder.file("machine.xml"), text));
    const auto node = load_xml(folder.file("machine.xml"));
    REQUIRE(node);
    CHECK(node->gpus.size() == 3);
    REQUIRE(node->notes.size() == 1);
    CHECK(node->notes[0].find(" graphics beside NVIDIA's GPUs") != std::string::npos);
  }
  CHECK(load_xml(tests::in_source("tests/data/topologies/uneven.xml"))->notes.empty());
}

TEST_CASE("dies without memory are NUMA nodes of their own, with the kernel's numbers") {
  const auto node = load_xml(tests::in_source("tests/data/topologies/no-memory.xml"));
  REQUIRE(node);
  REQUIRE(node->numas.size() == 4);
  const unsigned numbers[] = {0, 2, 1, 3};  // those without memory are last
  for (unsigned i = 0; i < 4; ++i) {
    CHECK(node->numas[i].os == numbers[i]);
    CHECK(node->numas[i].has_memory == (i < 2));
    CHECK(node->numas[i].has_cores);
    CHECK(node->numas[i].package == 0U);
  }
  REQUIRE(node->cores.size() == 8);
  REQUIRE(node->gpus.size() == 2);
  CHECK(node->gpus[1].numa == 2U);  // hangs from a die without memory
  for (unsigned core = 0; core < 8; ++core) {
    CAPTURE(core);
    CHECK(os_number(*node, node->cores[core].numa) == core / 2);
    CHECK(distance(node->cores[core], node->gpus[0]) == (core < 2 ? 0 : k_same_package));
    CHECK(distance(node->cores[core], node->gpus[1]) == (core / 2 == 1 ? 0 : k_same_package));
  }
}

TEST_CASE("a restricted machine keeps its devices and its distances") {
  NodeTopology node = *load_synthetic("package:2 numa:2 core:2 pu:2");
  node.gpus = {{"0000:01:00.0", 0, 0, {}}};
  const NodeTopology part = restrict_to(node, {9, 4});
  REQUIRE(part.cores.size() == 2);
  CHECK(part.cores[0].pus == std::vector<unsigned>{4});
  CHECK(part.cores[0].numa == 1);
  CHECK(part.closed.size() == 6);
  CHECK(distance(part.cores[0], part.gpus[0]) == k_same_package);
  CHECK(distance(part.cores[1], part.gpus[0]) == k_other_package);
}

}  // namespace dts::topo
