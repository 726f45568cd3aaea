// SPDX-License-Identifier: Apache-2.0
// Slurm's numbers of processors, as what the kernel calls them.
#include "core/plan/allotment.hpp"

#include "core/topo/hwloc/load.hpp"
#include "core/topo/restrict.hpp"

#include <doctest/doctest.h>

namespace dts::plan {
namespace {

using Numbers = std::vector<unsigned>;

// 8 cores; the second threads come after all first ones, as the kernel counts them.
topo::NodeTopology machine() {
  topo::NodeTopology node;
  for (unsigned core = 0; core < 8; ++core)
    node.cores.push_back({core / 4, core / 4, core / 4, {core, core + 8}});
  return node;
}

}  // namespace

TEST_CASE("a job's processors are those that Slurm means, and only where that is sure") {
  struct Row {
    const char* what;
    Numbers cpus;
    unsigned all;
    Numbers pus;
  };

  const Row rows[] = {
      {"a core, both threads", {2, 3}, 16, {1, 9}},
      {"half of a core", {2}, 16, {1}},
      {"cores are what is counted", {1, 6}, 8, {1, 6, 9, 14}},
      {"the second package", {8, 9, 10, 11, 12, 13, 14, 15}, 16, {4, 5, 6, 7, 12, 13, 14, 15}},
      {"all of it", {0, 1, 2, 3, 4, 5, 6, 7}, 8, {}},
      {"not known", {}, 16, {}},
      {"a node that claims more than it has", {0, 1}, 64, {}},
      {"a number that it has not", {0, 16}, 16, {}}};

  for (const Row& row : rows) {
    CAPTURE(std::string(row.what));
    CHECK(allotted_pus(machine(), {row.cpus, row.all}) == row.pus);
  }
  const auto held = topo::restrict_to(machine(), {0, 8, 1, 9});
  CHECK(allotted_pus(held, {{0}, 2}).empty());
  CHECK(allotted_pus({}, {{0}, 0}).empty());
}

}  // namespace dts::plan
