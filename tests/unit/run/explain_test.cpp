// SPDX-License-Identifier: Apache-2.0
// Outcomes and the logs that tell more of them.
#include "core/run/explain.hpp"

#include "core/base/files.hpp"
#include "tests/support/temporary_folder.hpp"

#include <doctest/doctest.h>

namespace {

using namespace dts;
using namespace dts::run;

class Logs {
 public:
  Logs& says(unsigned rank, const std::string& text) {
    REQUIRE(make_folders(run_.attempt(1)));
    REQUIRE(write_file(run_.rank_log(1, rank), text));
    return *this;
  }

  [[nodiscard]] Outcome explained(Outcome outcome) const {
    return explain(std::move(outcome), run_, 1, 4);
  }

 private:
  tests::TemporaryFolder folder_;
  RunDirectory run_{folder_.path};
};

const Outcome k_exited{Cause::user_exit, 1, "rank 2 on n1 exited 1", 2U, "n1"};

}  // namespace

TEST_CASE("the failed rank's own words make the cause, and are quoted") {
  const Outcome outcome = Logs().says(2, "x\nMemoryError\n").explained(k_exited);
  CHECK(outcome.cause == Cause::out_of_memory);
  CHECK(outcome.detail == "rank 2 on n1 exited 1: MemoryError");
  CHECK(outcome.node == "n1");
}

TEST_CASE("a rank that only lost its peers points at the one that failed by itself") {
  const Outcome outcome = Logs()
                              .says(2, "Connection reset by peer\n")
                              .says(3, "step 1\nCUDA error: uncorrectable ECC error encountered\n")
                              .explained(k_exited);
  CHECK(outcome.cause == Cause::gpu_error);
  CHECK(outcome.rank == 3U);
  CHECK(outcome.node.empty());
  CHECK(outcome.detail.find("rank 3 before it: CUDA error") != std::string::npos);
}

TEST_CASE("without a culprit it stays the lost communicator; without words, the exit") {
  CHECK(Logs()
            .says(2, "Connection reset by peer\n")
            .says(1, "Broken pipe\n")
            .explained(k_exited)
            .cause == Cause::comm_timeout);
  CHECK(Logs().says(2, "bye\n").explained(k_exited).detail == k_exited.detail);
  CHECK(Logs().explained(k_exited).cause == Cause::user_exit);
}

TEST_CASE("what the kernel or the scheduler said is not explained away") {
  for (const Cause cause : {Cause::completed,
                            Cause::preempted,
                            Cause::out_of_memory,
                            Cause::fenced,
                            Cause::no_restart}) {
    Outcome outcome = k_exited;
    outcome.cause = cause;
    CHECK(Logs().says(2, "No space left on device\n").explained(outcome).cause == cause);
  }
}
