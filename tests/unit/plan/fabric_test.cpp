// SPDX-License-Identifier: Apache-2.0
// Which adapters NCCL is told to use, of recorded machines and of invented ones.
#include "core/topo/fabric.hpp"

#include "core/base/files/files.hpp"
#include "core/plan/plan.hpp"
#include "core/topo/json.hpp"
#include "tests/support/recorded.hpp"
#include "tests/support/temporary_folder.hpp"

#include <doctest/doctest.h>

#include <regex>

namespace dts::plan {
namespace {

using FabricPorts = std::vector<topo::FabricPort>;

using tests::have_recorded;
using tests::k_recorded;

std::string shared(const std::vector<FabricPorts>& nodes) {
  std::map<std::string, topo::NodeTopology> by_name;
  for (const FabricPorts& ports : nodes)
    by_name["n" + std::to_string(by_name.size())] = {{}, {}, ports};
  return shared_hcas(by_name);
}

void write_port(const std::string& folder,
                const std::string& state,
                const std::string& layer,
                const std::string& rate) {
  REQUIRE(make_folders(folder));
  REQUIRE(write_file(folder + "/state", state + "\n"));
  REQUIRE(write_file(folder + "/link_layer", layer + "\n"));
  REQUIRE(write_file(folder + "/rate", rate + "\n"));
}

// The first ports of a recorded machine, through files like the kernel's. A port without a local
// identifier is Ethernet (InfiniBand Architecture Specification 1.3, annex A17); hwloc records no
// speeds.
FabricPorts recorded(const std::string& name) {
  const tests::TemporaryFolder sysfs;
  const std::string xml = *read_file(k_recorded + name);
  const std::regex adapter(R"rx(name="([^"]+)" osdev_type="3">([^]*?)</object>)rx");
  const std::regex port(R"rx("Port1State" value="(\d)"/>[^]*?"Port1LID" value="(0x[0-9a-f]+)")rx");
  for (std::sregex_iterator at(xml.begin(), xml.end(), adapter), end; at != end; ++at) {
    const std::string inside = (*at)[2];
    std::smatch seen;
    if (!std::regex_search(inside, seen, port)) continue;
    write_port(sysfs.file((*at)[1].str() + "/ports/1"),
               seen[1] == "4" ? "4: ACTIVE" : seen[1].str() + ": DOWN",
               seen[2] == "0x0" ? "Ethernet" : "InfiniBand",
               "100 Gb/sec (4X EDR)");
  }
  return topo::find_fabric(sysfs.path);
}

}  // namespace

TEST_CASE("recorded machines: what is active on all, InfiniBand before Ethernet") {
  const char* juwels = "juwels-booster_2xEPYC7402-NPS4_4xA100_4ib.xml";
  const char* lassen = "lassen_2xPOWER9-SMT4_4xV100_4ib_16disallowedPU.xml";
  const char* ipa20 = "ipa20_2xSPR8480-SNC4_4xH100_ib.xml";
  const char* jusuf = "jusuf_2xEPYC7742-NPS4_1xV100_v2.xml";
  const char* pascal = "pascal_2xBDW_2xP100-both-socket0.xml";
  const char* quartz = "quartz_2xBDW_nogpu_smtoff.xml";
  const char* laptop = "laptop-hybrid_i7-1370P_6P+8E.xml";

  struct {
    const char *first, *second, *expected;
  } const table[] = {
      {juwels, juwels, "mlx5_0:1,mlx5_1:1,mlx5_2:1,mlx5_3:1"},  // listed as 1, 0, 3, 2
      {juwels, lassen, "mlx5_0:1,mlx5_1:1,mlx5_2:1,mlx5_3:1"},
      {ipa20, ipa20, "mlx5_0:1"},   // three of four ports are down
      {juwels, ipa20, "mlx5_0:1"},  // the others are down on one
      {jusuf, jusuf, "mlx5_1:1"},   // mlx5_0 is Ethernet
      {jusuf, juwels, "mlx5_1:1"},  // and InfiniBand on the other
      {jusuf, pascal, ""},          // the same name on two networks
      {pascal, quartz, ""},         // no name in common
      {laptop, laptop, ""},         // no adapter
      {juwels, laptop, ""},
  };

  for (const auto& row : table) {
    if (!have_recorded(row.first) || !have_recorded(row.second)) continue;
    CAPTURE(std::string(row.first));
    CAPTURE(std::string(row.second));
    CHECK(shared({recorded(row.first), recorded(row.second)}) == row.expected);
    CHECK(shared({recorded(row.second), recorded(row.first)}) == row.expected);
  }
  if (have_recorded(juwels))
    CHECK(shared({recorded(juwels)}).empty());  // a single node needs no network
}

TEST_CASE("invented machines: the fastest that all have, whatever else one has") {
  const topo::FabricPort compute{"mlx5_0", 1, 200, true}, second{"mlx5_10", 2, 200, true};
  const topo::FabricPort slow{"mlx5_0", 1, 100, true}, storage{"mlx5_2", 1, 100, true};
  const topo::FabricPort roce{"mlx5_bond_0", 1, 400, false}, board{"irdma0", 1, 25, false};
  const topo::FabricPort slow_roce{"mlx5_bond_0", 1, 200, false}, unknown{"mlx5_7", 1, 0, true};
  const topo::FabricPort unnamed{"mlx5_8", 1, 0, false};
  const FabricPorts many{
      {"mlx5_4", 1, 100, false}, {"mlx5_5", 1, 100, false}, {"mlx5_6", 1, 100, false}};

  struct {
    std::vector<FabricPorts> nodes;
    const char* expected;
  } const table[] = {
      {{}, ""},
      {{{}, {}}, ""},
      {{{compute, second}, {compute, second}}, "mlx5_0:1,mlx5_10:2"},
      {{{compute, storage}, {compute, storage}}, "mlx5_0:1"},
      {{{compute, roce}, {compute, roce}}, "mlx5_bond_0:1"},  // never both networks at once
      {{{compute, slow_roce}, {compute, slow_roce}}, "mlx5_0:1"},
      {{{storage, many[0], many[1], many[2]}, {storage, many[0], many[1], many[2]}},
       "mlx5_4:1,mlx5_5:1,mlx5_6:1"},
      {{{storage, many[0]}, {storage, many[0]}}, "mlx5_2:1"},  // as fast: InfiniBand
      {{{unknown, board}, {unknown, board}}, "mlx5_7:1"},      // no less than 100 Gb/s
      {{{unnamed, board}, {unnamed, board}}, "irdma0:1"},      // Ethernet: known before unknown
      {{{unknown}, {unknown}}, "mlx5_7:1"},
      {{{roce, board}, {roce, board}}, "mlx5_bond_0:1"},
      {{{board}, {board}}, "irdma0:1"},
      {{{compute, second}, {compute, second}, {second}}, "mlx5_10:2"},
      {{{compute, storage}, {slow, storage}}, "mlx5_0:1,mlx5_2:1"},  // as fast as its slowest
      {{{compute}, {second}}, ""},
      {{{{"mlx5_0", 1, 200, true}}, {{"mlx5_0", 2, 200, true}}}, ""},
  };

  for (const auto& row : table) {
    CAPTURE(std::string(row.expected));
    CHECK(shared(row.nodes) == row.expected);
  }
}

TEST_CASE(
    "the kernel's files: active ports of both kinds, sorted, and nothing from a broken tree") {
  const tests::TemporaryFolder sysfs;
  write_port(sysfs.file("mlx5_10/ports/1"), "4: ACTIVE", "InfiniBand", "400 Gb/sec (4X NDR)");
  write_port(sysfs.file("mlx5_2/ports/2"), "4: ACTIVE", "Ethernet", "2.5 Gb/sec (1X SDR)");
  write_port(sysfs.file("mlx5_2/ports/1"), "4: ACTIVE", "Ethernet", "");
  write_port(sysfs.file("mlx5_3/ports/1"), "2: INIT", "InfiniBand", "400 Gb/sec (4X NDR)");
  write_port(sysfs.file("efa_0/ports/1"), "4: ACTIVE", "Unspecified", "100 Gb/sec (4X EDR)");
  write_port(sysfs.file("mlx5_4/ports/one"), "4: ACTIVE", "InfiniBand", "100 Gb/sec (4X EDR)");
  REQUIRE(make_folders(sysfs.file("mlx5_5/ports/1")));
  REQUIRE(make_folders(sysfs.file("mlx5_6")));
  topo::NodeTopology node{{}, {}, topo::find_fabric(sysfs.path)};
  CHECK(topo::to_json(node).find(
            R"("fabric":[["mlx5_2",1,0,false],["mlx5_2",2,2,false],["mlx5_10",1,400,true]])") !=
        std::string::npos);
  CHECK(topo::to_json(*topo::from_json(topo::to_json(node))) == topo::to_json(node));
  CHECK(topo::find_fabric(sysfs.file("none")).empty());
}

}  // namespace dts::plan
