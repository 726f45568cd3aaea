// SPDX-License-Identifier: Apache-2.0
// Whose device is whose, as all ranks see it.
#include "core/train/loop/device_places.hpp"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <cstdio>

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
  const auto all = nlohmann::json::parse(devices_json({place("a", "1"), place("b", "2")}));
  REQUIRE(all.size() == 2);
  CHECK(all[1]["rank"] == 1);
  CHECK(all[1]["node"] == "b");
  CHECK(all[0]["name"] == "A \"card\"");
  CHECK(all[0]["ecc"] == true);
  CHECK(all[0]["clock_mhz"] == 1980);
  CHECK(all[0]["memory_clock_mhz"].is_null());
}
