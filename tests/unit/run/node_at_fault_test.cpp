// SPDX-License-Identifier: Apache-2.0
// Ranks that did not find each other: whether a node is to blame.
#include "core/run/summary/node_at_fault.hpp"

#include "core/base/files/files.hpp"
#include "tests/support/temporary_folder.hpp"

#include <doctest/doctest.h>

#include <map>
#include <string>
#include <vector>

namespace {

using namespace dts;
using namespace dts::run;

constexpr const char* k_missed =
    "torch.distributed.DistNetworkError: The client socket has timed out after 60000ms while "
    "trying to connect to (10.0.0.1, 29500).";

// With two ranks on each of two nodes.
std::string node_of(const Outcome& outcome, const std::map<unsigned, std::string>& logs) {
  const tests::TemporaryFolder folder;
  const RunDirectory run{folder.path};
  REQUIRE(make_folders(run.attempt(1)));
  for (const auto& [rank, text] : logs) REQUIRE(write_file(run.rank_log(1, rank), text + "\n"));
  return node_at_fault(outcome, run, 1, {"n0", "n0", "n1", "n1"});
}

Outcome missed(const std::string& words, Cause cause = Cause::rendezvous, const char* node = "n1") {
  return {cause, 1, "rank 2 on n1 exited 1: " + words, 2U, node};
}

}  // namespace

TEST_CASE("a node whose ranks alone did not find the others is to blame") {
  for (const char* node : {"n1", ""}) {
    const Outcome outcome = missed(k_missed, Cause::rendezvous, node);
    CHECK(node_of(outcome, {{2, k_missed}}) == "n1");
    CHECK(node_of(outcome, {{2, k_missed}, {3, k_missed}}) == "n1");
    CHECK(node_of(outcome, {{0, "step 1"}, {2, k_missed}}) == "n1");
    CHECK(node_of(outcome, {{0, "RuntimeError: Connection reset by peer"}, {2, k_missed}}) == "n1");
  }
}

TEST_CASE("no node is to blame if ranks on several did not find each other") {
  const std::string waited =
      "torch.distributed.DistStoreError: Timed out after 61 seconds waiting for clients. 2/4 "
      "clients joined.";
  CHECK(node_of(missed(k_missed), {{0, waited}, {2, k_missed}}).empty());
  CHECK(node_of(missed(k_missed), {{1, k_missed}, {2, k_missed}}).empty());
  for (const std::string address : {"localhost", "127.0.0.1"}) {
    const std::string words = "DistNetworkError: cannot connect to (" + address + ", 29500).";
    CHECK(node_of(missed(words), {{2, words}}).empty());
  }
  // In the launcher's log, for all ranks.
  CHECK(node_of(missed("[n1:12] *** An error occurred in MPI_Init"), {}).empty());
}

TEST_CASE("other failures are those of the first rank's node, whatever others say") {
  const std::map<unsigned, std::string> all{{0, k_missed}, {1, k_missed}, {2, k_missed}};
  CHECK(node_of(missed("Address already in use"), all) == "n1");
  CHECK(node_of(missed("CUDA error: uncorrectable ECC error", Cause::gpu_error), all) == "n1");
  CHECK(node_of(missed("", Cause::rank_killed, ""), all) == "n1");
  CHECK(node_of({Cause::launch_failed, 1, "n0 did not answer", std::nullopt, "n0"}, all) == "n0");
  CHECK(node_of({Cause::rendezvous, 1, "rank 9", 9U}, all).empty());
}
