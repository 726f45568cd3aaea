// SPDX-License-Identifier: Apache-2.0
// The assignment of devices to ranks, as all ranks see it.
#include "core/train/loop/device_places.hpp"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <cstdio>
#include <string>
#include <vector>

using namespace dts::train;

namespace {

DevicePlace place(const char* node, const char* uuid) {
  DevicePlace made;
  std::snprintf(made.node.data(), made.node.size(), "%s", node);
  std::snprintf(made.facts.name, sizeof made.facts.name, "%s", "A \"card\"");
  std::snprintf(made.facts.uuid, sizeof made.facts.uuid, "%s", uuid);
  made.facts.ecc = 1;
  made.facts.clock = 1980;
  return made;
}

}  // namespace

TEST_CASE("a device for each rank is accepted, and all that are shared are named at once") {
  CHECK(check_one_each({}));
  CHECK(check_one_each({place("a", "1"), place("a", "2"), place("b", "3")}));
  const auto shared = check_one_each(
      {place("a", "1"), place("b", "2"), place("a", "1"), place("c", "1"), place("b", "2")});
  REQUIRE_FALSE(shared);
  CHECK(
      shared.error().message ==
      "rank 0 (node a), rank 2 (node a) and rank 3 (node c) have one device, A \"card\" (UUID 1); "
      "rank 1 (node b) and rank 4 (node b) have one device, A \"card\" (UUID 2)");
}

TEST_CASE("what is not known of a device is null") {
  std::vector<DevicePlace> places{place("a", "1"), place("a", "2")};
  places[1].facts.numa = -1;
  places[1].peak = 7e14;
  std::vector<DeviceLinks> links(2);
  links[0].links[0] = {1, {4, 1}};
  links[1].links[0] = {0, {}};
  const auto all = nlohmann::json::parse(devices_json(places, links, Precision::bf16));
  REQUIRE(all.size() == 2);
  CHECK(all[1]["rank"] == 1);
  CHECK(all[1]["node"] == "a");
  CHECK(all[0]["numa_node"] == 0);
  CHECK(all[1]["numa_node"].is_null());
  CHECK(all[0]["gemm_peak"].is_null());
  CHECK(all[1]["gemm_peak"] == 7e14);
  CHECK(all[0]["sheet_peak"].is_null());
  CHECK(all[0]["links"] == nlohmann::json::parse(R"([{"rank":1,"nvlinks":4,"direct":true}])"));
  CHECK(all[1]["links"] == nlohmann::json::parse(R"([{"rank":0,"nvlinks":null,"direct":null}])"));
  CHECK(all[0]["name"] == "A \"card\"");
  CHECK(all[0]["ecc"] == true);
  CHECK(all[0]["clock_mhz"] == 1980);
  CHECK(all[0]["memory_clock_mhz"].is_null());
}

TEST_CASE("another GPU than was planned, and one far from the rank's cores, are said") {
  DevicePlace mine = place("n7", "12345678123443218000000000000007");
  std::snprintf(mine.facts.pci, sizeof mine.facts.pci, "0000:3b:00.0");
  mine.facts.numa = 1;
  mine.numas = 0b10;
  const std::string planned = "GPU-12345678-1234-4321-8000-000000000007";
  CHECK(misplaced(3, mine, planned).empty());
  CHECK(misplaced(3, mine, "0,1").empty());  // does not say which one
  CHECK(misplaced(3, mine, "GPU-1234").empty());
  auto all = misplaced(3, mine, "GPU-12345678-1234-4321-8000-000000000009");
  REQUIRE(all.size() == 1);
  CHECK(all[0].find("rank 3 (node n7) was to have the GPU of UUID 1234567812344321800000000000000"
                    "9, but has that of UUID") == 0);
  mine.numas = 0b101;
  all = misplaced(3, mine, planned);
  REQUIRE(all.size() == 1);
  CHECK(all[0].find("rank 3 (node n7) has no core on NUMA node 1, which its GPU (0000:3b:00.0)") ==
        0);
  mine.facts.numa = -1;  // a machine with one node, or unknown
  CHECK(misplaced(3, mine, planned).empty());
}

TEST_CASE("a pair of GPUs that cannot reach each other is said if others of the node can") {
  const std::vector<DevicePlace> places{place("a", "1"), place("a", "2"), place("a", "3")};
  std::vector<DeviceLinks> links(3);
  links[0].links[0] = {1, {0, 0}};
  links[1].links[0] = {0, {0, 0}};
  CHECK(odd_links(places, links).empty());  // no pair can
  links[0].links[1] = {2, {4, 1}};
  const auto all = odd_links(places, links);
  REQUIRE(all.size() == 1);
  CHECK(all[0].find("node a: some GPUs cannot read others' memory directly") == 0);
  CHECK(all[0].find("0 from 1, 1 from 0") != std::string::npos);
}

TEST_CASE("peaks of all devices are known if that of each is") {
  std::vector<DevicePlace> places{place("a", "1"), place("a", "2")};
  places[0].peak = places[1].peak = 7e14;
  CHECK(peaks_of(places, Precision::bf16).measured == 14e14);
  CHECK(peaks_of(places, Precision::bf16).sheet == 0);
  for (DevicePlace& one : places)
    std::snprintf(one.facts.name, sizeof one.facts.name, "NVIDIA H200");
  CHECK(peaks_of(places, Precision::bf16).sheet == 2 * 989.5e12);
  CHECK(peaks_of(places, Precision::fp32).sheet == 2 * 67e12);
  places[1].peak = 0;
  CHECK(peaks_of(places, Precision::bf16).measured == 0);
}
