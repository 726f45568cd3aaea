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

TEST_CASE("nodes that refuse a step are read, but not those that are too slow") {
  const auto refused = parse_refusals(
      "srun: error: Task launch for StepId=7.4 failed on node n2: Unspecified error\n"
      "srun: error: Task launch for StepId=7.4 failed on node n1: Job credential expired\n"
      "srun: error: Task launch for StepId=7.4 failed on node n0: Socket timed out on send/recv "
      "operation\n"
      "srun: error: Task launch for StepId=7.4 failed on node n9: Job credential expired\n"
      "srun: error: Application launch failed: Job credential expired\n"
      "srun: error: n0: task 0: Killed\n",
      k_nodes);
  REQUIRE(refused.size() == 2);
  CHECK(refused[0].node == "n1");
  CHECK(refused[1].node == "n2");
  CHECK(without_unable(k_failed, refused, 3).detail ==
        "n1 starts no task: Job credential expired, and 1 more node cannot run ranks, either (the "
        "log of its slurmd "
        "says more); the ranks were told to end");
  CHECK(parse_refusals("", k_nodes).empty());
  const run::Outcome victim{
      run::Cause::rank_killed, 137, "rank 0 on n0: its process vanished", 0, "n0"};
  const run::Outcome explained = without_unable(victim, refused, 3);
  CHECK(explained.cause == run::Cause::launch_failed);
  CHECK(explained.node == "n1");
  CHECK_FALSE(explained.rank.has_value());
  CHECK(explained.unfit.empty());  // at once in quarantine otherwise
}

TEST_CASE("nodes that srun gave up on are slow") {
  CHECK(says_nodes_are_slow(
      "srun: error: slurm_receive_msgs: [[n1]:26206] failed: Socket timed out on send/recv\n"
      "srun: error: Task launch for StepId=7.0 failed on node n1: Socket timed out on send/recv "
      "operation\n"));
  CHECK_FALSE(says_nodes_are_slow(
      "srun: error: Task launch for StepId=7.4 failed on node n1: Job credential expired\n"));
  CHECK_FALSE(says_nodes_are_slow("RuntimeError: connection timed out\n"));
  CHECK_FALSE(
      says_nodes_are_slow("timed out: srun: error: Task launch for StepId=7.0 failed on node n1: "
                          "Job credential expired\n"));
}

TEST_CASE("nodes that cannot run a rank are named and omitted") {
  const run::Outcome outcome =
      without_unable(k_failed, {{"n1", "cannot run d"}, {"n2", "cannot read r"}}, 3);
  CHECK(outcome.node == "n1");
  CHECK(outcome.unfit.size() == 2);
  CHECK(outcome.detail ==
        "n1 cannot run d, and 1 more node cannot run ranks, either (is its file system mounted "
        "there, and has it "
        "room?); the ranks were told to end");
}

TEST_CASE("a problem on every node is no node's fault, and without problems nothing changes") {
  const run::Outcome everywhere = without_unable(k_failed, {{"n0", "x"}, {"n1", "x"}}, 2);
  CHECK(everywhere.node.empty());
  CHECK(everywhere.unfit.empty());
  CHECK(everywhere.detail.starts_with("n0 x, and 1 more node"));
  CHECK(without_unable(k_failed, {}, 3).detail == k_failed.detail);
}
