// SPDX-License-Identifier: Apache-2.0
// Nodes that cannot run a rank: what they report, and what follows from it.
#include "core/launch/health/node_doubt.hpp"

#include <doctest/doctest.h>

using namespace dts;
using namespace dts::launch;

namespace {

const std::vector<std::string> k_nodes{"n0", "n1", "n2"};
const run::Outcome k_failed{run::Cause::launch_failed, 1, "the ranks were told to end"};

}  // namespace

TEST_CASE("each node's line is read, in the order of nodes, and other lines are ignored") {
  const auto unable = parse_unable(
      "n2 cannot read /runs/a/channel.json\nsrun: a word\nn1 cannot run /opt/dtsubmit\n\nn9 x\n",
      k_nodes);
  REQUIRE(unable.size() == 2);
  CHECK(unable[0].node == "n1");
  CHECK(unable[0].why == "cannot run /opt/dtsubmit");
  CHECK(unable[1].node == "n2");
  CHECK(parse_unable("", k_nodes).empty());
}

TEST_CASE("nodes that cannot run a rank are named and omitted") {
  const run::Outcome outcome =
      without_unable(k_failed, {{"n1", "cannot run d"}, {"n2", "cannot read r"}}, 3);
  CHECK(outcome.node == "n1");
  CHECK(outcome.unfit.size() == 2);
  CHECK(outcome.detail ==
        "n1 cannot run d, and 1 node more cannot (is its file system mounted there, and has it "
        "room?); the ranks were told to end");
}

TEST_CASE("a problem on every node is no node's fault, and without problems nothing changes") {
  const run::Outcome everywhere = without_unable(k_failed, {{"n0", "x"}, {"n1", "x"}}, 2);
  CHECK(everywhere.node.empty());
  CHECK(everywhere.unfit.empty());
  CHECK(everywhere.detail.starts_with("n0 x, and 1 node more"));
  CHECK(without_unable(k_failed, {}, 3).detail == k_failed.detail);
}
