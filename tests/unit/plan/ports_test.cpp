// SPDX-License-Identifier: Apache-2.0
// Which ports are tried, in what order, and how Slurm writes those that it keeps for a step.
#include "core/plan/plan.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

namespace {

using namespace dts::plan;
using Ports = std::vector<unsigned>;

bool is_outside(unsigned port) {
  return port < 32768 || port > 60999;
}

}  // namespace

TEST_CASE(
    "every port above 1023 is a candidate once; those outside the kernel's range come first") {
  const Ports ports = master_port_candidates("run-a", 1, 32768, 60999, 100000);
  CHECK(ports.size() == 65536 - 1024);
  CHECK(std::set<unsigned>(ports.begin(), ports.end()).size() == ports.size());
  const auto [low, high] = std::minmax_element(ports.begin(), ports.end());
  CHECK(*low == 1024);
  CHECK(*high == 65535);
  CHECK(std::is_partitioned(ports.begin(), ports.end(), is_outside));
  CHECK(std::count_if(ports.begin(), ports.end(), is_outside) ==
        65536 - 1024 - (60999 - 32768 + 1));
}

TEST_CASE("candidates are salted by run and attempt") {
  const Ports ports = master_port_candidates("run-a", 1, 32768, 60999, 8);
  CHECK(ports.size() == 8);
  CHECK(std::all_of(ports.begin(), ports.end(), is_outside));
  CHECK(master_port_candidates("run-a", 1, 32768, 60999, 8) == ports);
  CHECK(master_port_candidates("run-a", 2, 32768, 60999, 8) != ports);
  CHECK(master_port_candidates("run-b", 1, 32768, 60999, 8) != ports);
}

TEST_CASE("where the kernel's range leaves too few ports, some inside it are tried last") {
  const Ports none = master_port_candidates("run-a", 1, 1024, 65535, 8);
  CHECK(none.size() == 8);
  CHECK(master_port_candidates("run-b", 1, 1024, 65535, 8) != none);
  const Ports one = master_port_candidates("run-a", 1, 1025, 65535, 8);
  REQUIRE(one.size() == 8);
  CHECK(one.front() == 1024);
  CHECK(std::set<unsigned>(one.begin(), one.end()).size() == 8);
}

TEST_CASE("ports as Slurm lists them, and nothing of what is no such list") {
  const struct {
    const char* text;
    Ports ports;
  } table[] = {{"12000-12003", {12000, 12001, 12002, 12003}},
               {"12000", {12000}},
               {"[12000-12001,12010]", {12000, 12001, 12010}},
               {"12001,12000", {12001, 12000}},
               {"", {}},
               {"[]", {}},
               {"(null)", {}},
               {"12003-12000", {}},
               {"12000-", {}},
               {"0-3", {}},
               {"65535-65536", {}},
               {"1-99999999999999999999", {}},
               {"12000,x", {}}};

  for (const auto& row : table) {
    CAPTURE(row.text);
    CHECK(parse_ports(row.text) == row.ports);
  }
}
