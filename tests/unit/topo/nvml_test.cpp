// SPDX-License-Identifier: Apache-2.0
// What NVML adds to a node, asked of a library that stands in for it.
#include "core/base/files/files.hpp"
#include "core/base/os/process.hpp"
#include "core/topo/hwloc/load.hpp"
#include "core/topo/json.hpp"
#include "core/topo/nvml/nvml_gpus.hpp"
#include "core/topo/override.hpp"
#include "tests/support/source_dir.hpp"
#include "tests/support/temporary_folder.hpp"

#include <doctest/doctest.h>
#include <unistd.h>

#include <cstdlib>

namespace dts::topo {
namespace {

constexpr std::chrono::minutes k_long{5};

// The stand-in's node, for as long as this lives.
struct FixtureNode {
  explicit FixtureNode(const char* node) { ::setenv("NVML_FIXTURE_NODE", node, 1); }

  FixtureNode(const FixtureNode&) = delete;
  FixtureNode& operator=(const FixtureNode&) = delete;

  ~FixtureNode() { ::unsetenv("NVML_FIXTURE_NODE"); }
};

// GPUs in NUMA node 0, of which the stand-in has the second.
NodeTopology node_of_three() {
  NodeTopology node = *load_synthetic("package:2 numa:1 core:4 pu:1");
  node.gpus = {{"0000:05:00.0", 0, 0}, {"0000:3b:00.0", 0, 0}, {"10000:01:00.0", 0, 0}};
  return node;
}

std::string described(const NodeTopology& node) {
  std::string text;
  for (const Gpu& gpu : node.gpus) {
    text += gpu.pci + " " + gpu.name + " " + gpu.uuid.substr(0, 6);
    for (const std::string& instance : gpu.instances) text += " " + instance.substr(0, 6);
    if (!gpu.model.empty()) text += " " + gpu.model;
    text += gpu.numa ? "\n" : " nowhere\n";
  }
  return text;
}

std::string linked(const NodeTopology& node) {
  std::string text;
  for (const GpuLink& link : node.links)
    text += std::to_string(link.a) + "-" + std::to_string(link.b) + ":" +
            std::to_string(link.weight) + " ";
  return text;
}

}  // namespace

TEST_CASE("UUIDs and MIG instances come to the GPUs at their addresses; none is lost") {
  NodeTopology node = node_of_three();
  node.links = {{0, 2, 9}, {1, 2, 7}};
  node = add_nvml(std::move(node), NVML_FIXTURE, k_long);
  CHECK(described(node) ==
        "0000:05:00.0  \n"
        "0000:3b:00.0 nvml0 GPU-00 NVIDIA A100-SXM4-40GB\n"
        "0000:3e:00.0 nvml3 GPU-30 MIG-30 MIG-32 NVIDIA A100-SXM4-40GB nowhere\n"
        "10000:01:00.0  \n");
  CHECK(linked(node) == "0-3:9 1-3:7 ");  // what was known before stays, by its GPUs
  CHECK(node.doubts.empty());
}

TEST_CASE("NVLinks between GPUs, and through switches of each to each") {
  struct Row {
    const char* node;
    const char* links;
  };

  for (const Row& row : {Row{"mesh", "1-2:2 1-3:1 2-4:1 3-4:1 "},
                         Row{"switch", "1-2:4 1-3:4 1-4:2 2-3:4 2-4:2 3-4:2 "},
                         Row{"", ""}}) {
    CAPTURE(row.node);
    const FixtureNode fixture(row.node);
    CHECK(linked(add_nvml(node_of_three(), NVML_FIXTURE, k_long)) == row.links);
  }
}

TEST_CASE("without NVML, or without its driver, a node is as it was") {
  const std::string before = to_json(node_of_three());
  CHECK(to_json(add_nvml(node_of_three(), "libno-such-nvml.so.1", k_long)) == before);
  ::setenv("NVML_FIXTURE_NO_DRIVER", "1", 1);
  CHECK(to_json(add_nvml(node_of_three(), NVML_FIXTURE, k_long)) == before);
  ::unsetenv("NVML_FIXTURE_NO_DRIVER");
}

TEST_CASE(
    "NVML that crashes or never answers leaves a doubt, which an override file does not end") {
  struct Row {
    const char* node;
    const char* doubt;
    std::chrono::milliseconds limit;
  };

  for (const Row& row :
       {Row{"crash", "NVML broke off", k_long},
        Row{"hang", "NVML has not answered within 1 s", std::chrono::seconds(1)}}) {
    CAPTURE(row.node);
    const FixtureNode fixture(row.node);
    NodeTopology node = add_nvml(node_of_three(), NVML_FIXTURE, row.limit);
    CHECK(described(node) == described(node_of_three()));
    const auto told = apply_override(std::move(node), "device 0000:05:00.0 numa 1\n", "f");
    REQUIRE(told);
    REQUIRE(told->doubts.size() == 1);
    CHECK(told->doubts[0].find(row.doubt) == 0);
  }
}

// The whole way: a recorded machine that passes for this one, the stand-in under NVML's name.
TEST_CASE("NVML is asked where there is a GPU of NVIDIA's, about this machine only") {
  const tests::TemporaryFolder folder;
  std::string machine = *read_file(tests::in_source("tests/data/topologies/uneven.xml"));
  const std::string other = "0000:41:00.0";
  machine.replace(machine.find(other), other.size(), "0000:3b:00.0");
  std::string without = machine;
  for (std::size_t at; (at = without.find("10de:")) != std::string::npos;)
    without.replace(at, 4, "102b");  // a console's
  REQUIRE(write_file(folder.file("nvidia.xml"), machine));
  REQUIRE(write_file(folder.file("other.xml"), without));
  REQUIRE(::symlink(NVML_FIXTURE, folder.file("libnvidia-ml.so.1").c_str()) == 0);

  struct Row {
    const char* file;
    const char* is_this;
    std::size_t gpus, with_uuid;
  };

  for (const Row& row :
       {Row{"nvidia.xml", "1", 5, 2}, Row{"nvidia.xml", "0", 4, 0}, Row{"other.xml", "1", 0, 0}}) {
    CAPTURE(row.file);
    CAPTURE(row.is_this);
    Command command;
    command.argv = {TOPOLOGY_PROGRAM};
    command.env = environment_with({{"LD_LIBRARY_PATH", folder.path},
                                    {"HWLOC_XMLFILE", folder.file(row.file)},
                                    {"HWLOC_COMPONENTS", "xml,stop"},
                                    {"HWLOC_THISSYSTEM", row.is_this}});
    const auto output = run_process(std::move(command), k_long);
    REQUIRE(output);
    REQUIRE_MESSAGE(output->exit_code == 0, output->err);
    const auto node = from_json(output->out.substr(0, output->out.find('\n')));
    REQUIRE(node);
    CHECK(node->gpus.size() == row.gpus);
    std::size_t with_uuid = 0;
    for (const Gpu& gpu : node->gpus) with_uuid += gpu.uuid.empty() ? 0 : 1;
    CHECK(with_uuid == row.with_uuid);
  }
}

}  // namespace dts::topo
