// SPDX-License-Identifier: Apache-2.0
// A GPU that a program does not find: whose fault that is.
#include "core/run/summary/lost_gpu.hpp"

#include "core/base/files/files.hpp"
#include "core/run/event/event_line.hpp"
#include "core/run/summary/evidence.hpp"
#include "tests/support/temporary_folder.hpp"

#include <doctest/doctest.h>

#include <string>

namespace {

using namespace dts;
using namespace dts::run;

std::vector<Event> one_attempt(AttemptEnded end, const char* begins_with = "step-1") {
  return {{.attempt = 1, .what = AttemptStarted{.checkpoint = begins_with}},
          {.attempt = 1, .what = std::move(end)}};
}

}  // namespace

TEST_CASE("an attempt has worked if it saved or made a step, until `dtsubmit requeue`") {
  CHECK_FALSE(has_worked({}));
  CHECK_FALSE(has_worked(one_attempt({.checkpoint = "step-1"})));
  CHECK_FALSE(has_worked(one_attempt({.checkpoint = "step-1", .step = 0})));
  CHECK(has_worked(one_attempt({.checkpoint = "step-1", .step = 1})));
  CHECK(has_worked(one_attempt({.checkpoint = "step-1", .saved = true})));
  auto events = one_attempt({.checkpoint = "step-2"});
  CHECK(has_worked(events));
  events.push_back({.what = Resumed{}});
  CHECK_FALSE(has_worked(events));
}

TEST_CASE("a GPU that a program had before, and no longer finds, has failed") {
  const tests::TemporaryFolder folder;
  const RunDirectory run{folder.path};
  for (const std::string_view words : {k_unseen_gpu, k_unseen_gpus, k_no_gpu, k_no_amd_gpu}) {
    const Outcome missed{
        Cause::user_exit, 1, "rank 7 on n1 exited 1: " + std::string(words), 7U, "n1"};
    CHECK(settle_unseen_gpu(missed, run, false, false).cause == Cause::user_exit);
    CHECK(settle_unseen_gpu(missed, run, true, true).cause == Cause::gpu_error);
    CHECK(settle_unseen_gpu(missed, run, true, true).node == "n1");
  }
  const Outcome other{Cause::user_exit, 1, "rank 7 on n1 exited 1: ValueError: x", 7U, "n1"};
  CHECK(settle_unseen_gpu(other, run, true, true).cause == Cause::user_exit);
  std::string lines;
  for (const Event& event : one_attempt({.step = 3})) lines += to_line(event) + "\n";
  REQUIRE(write_file(run.ledger(), lines));
  CHECK(settle_unseen_gpu({Cause::user_exit, 1, std::string(k_no_gpu)}, run, false, true).cause ==
        Cause::gpu_error);
}

TEST_CASE("a GPU that a rank was not shown is shown by the next attempt, if that is possible") {
  const tests::TemporaryFolder folder;
  const RunDirectory run{folder.path};
  for (const std::string_view words : {k_unseen_gpu, k_unseen_gpus}) {
    const Outcome missed{
        Cause::user_exit, 1, "rank 1 on n1 exited 1: " + std::string(words), 1U, "n1"};
    const Outcome settled = settle_unseen_gpu(missed, run, false, true);
    CHECK(settled.cause == Cause::gpu_unseen);
    CHECK(settled.detail ==
          missed.detail + "; the next attempt shows each rank all GPUs of its node");
  }
  // No number would help.
  CHECK(settle_unseen_gpu({Cause::user_exit, 1, std::string(k_no_gpu)}, run, false, true).cause ==
        Cause::user_exit);
  CHECK_FALSE(has_missed_gpus(one_attempt({.cause = Cause::user_exit})));
  CHECK(has_missed_gpus(one_attempt({.cause = Cause::gpu_unseen})));
}
