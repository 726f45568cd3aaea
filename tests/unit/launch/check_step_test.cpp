// SPDX-License-Identifier: Apache-2.0
// The step that measures nodes, with a shell in place of srun: which output is accepted, and how
// long each node is waited for.
#include "core/launch/health/check_step.hpp"

#include "tests/support/temporary_folder.hpp"

#include <doctest/doctest.h>

namespace {

using namespace dts;
using namespace dts::launch;
using namespace std::chrono_literals;

// The nodes that a step answers for: `script` calls `$(node n1)` for each.
std::vector<std::string> answers(const std::string& script, std::size_t enough) {
  const tests::TemporaryFolder folder;
  NodeReport report;
  report.node = "@";
  const std::string line = to_text(report);
  CheckStep step;
  step.command = {
      "sh",
      "-c",
      "node() { printf '%s\\n' \"$LINE\" | sed \"s/@/$1/\"; }; LINE='" + line + "'; " + script};
  step.file = folder.path + "/nodes.jsonl";
  step.nodes = 3;
  step.enough = enough;
  step.limit = 60s;
  std::vector<std::string> nodes;
  const auto reports = run_check_step(step);
  REQUIRE_MESSAGE(reports, reports.error().message);
  for (const NodeReport& one : *reports) nodes.push_back(one.node);
  return nodes;
}

using Nodes = std::vector<std::string>;

}  // namespace

TEST_CASE("every node's line is accepted; other text and partial lines are not") {
  CHECK(answers("node n0; echo srun: error: hm; node n2; node n1; printf '{\"node\"'", 3) ==
        Nodes{"n0", "n2", "n1"});
}

TEST_CASE("the output of a step that ends early, or does not end, still counts") {
  CHECK(answers("node n0; exit 1", 3) == Nodes{"n0"});
  CHECK(answers("exit 1", 2).empty());
  CHECK(answers("node n0; node n1; node n2; trap '' TERM; while :; do sleep 1; done", 3).size() ==
        3);
}

TEST_CASE("once enough nodes have answered, the others are not waited for until the limit") {
  const auto began = std::chrono::steady_clock::now();
  CHECK(answers("node n0; node n1; sleep 600; node n2", 2) == Nodes{"n0", "n1"});
  CHECK(std::chrono::steady_clock::now() - began < 50s);
}

TEST_CASE("without the program there is no step") {
  CheckStep step;
  const tests::TemporaryFolder folder;
  step.command = {"/no/such/srun"};
  step.file = folder.path + "/nodes.jsonl";
  CHECK_FALSE(run_check_step(step));
}
