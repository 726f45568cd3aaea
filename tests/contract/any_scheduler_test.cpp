// SPDX-License-Identifier: Apache-2.0
// Requirements for every scheduler plug-in, tested on the one that DTSUBMIT_SCHEDULER names: the
// libslurm plug-in on a private Slurm, and tests/contract/fake_scheduler.cpp.
#include "core/base/files/files.hpp"
#include "core/plugin/scheduler.hpp"
#include "core/sched/order.hpp"
#include "tests/support/temporary_folder.hpp"

#include <doctest/doctest.h>

#include <cstdlib>
#include <memory>

using namespace dts;

namespace {

std::unique_ptr<sched::Scheduler> any_scheduler() {
  auto loaded = plugin::load_scheduler();
  REQUIRE_MESSAGE(loaded.has_value(), loaded.error().message);
  return *std::move(loaded);
}

// A job that runs until it is cancelled.
sched::Submission long_job(const tests::TemporaryFolder& folder) {
  sched::Submission job;
  job.script = "#!/bin/bash\nexec sleep 300\n";
  job.script_path = folder.file("script.sbatch");
  REQUIRE(write_file(job.script_path, job.script));
  job.environment = {std::string("PATH=") + std::getenv("PATH")};
  job.work_folder = folder.path;
  job.output = folder.file("out");
  job.job_name = "any";
  return job;
}

}  // namespace

TEST_CASE("any scheduler has a name for people") {
  const std::string name = any_scheduler()->phrases().name;
  CHECK_FALSE(name.empty());
  CHECK(name != sched::Phrases{}.name);
}

TEST_CASE("any scheduler knows a job by the id that it gave, and finds it by its script") {
  const tests::TemporaryFolder folder;
  const auto scheduler = any_scheduler();
  const auto id = scheduler->submit(long_job(folder));
  REQUIRE_MESSAGE(id.has_value(), id.error().message);
  const auto job = scheduler->job(*id);
  REQUIRE(job.has_value());
  CHECK(job->id == *id);
  CHECK_FALSE(sched::is_terminal(job->state));
  const auto found = sched::find_jobs(*scheduler, folder.file("script.sbatch"));
  REQUIRE(found.has_value());
  REQUIRE(found->size() == 1);
  CHECK(found->front().id == *id);
  CHECK(sched::find_jobs(*scheduler, folder.file("another"))->empty());
  CHECK(scheduler->cancel(*id).has_value());
}

TEST_CASE("any scheduler cancels a job, once more is fine, and says how it ended") {
  const tests::TemporaryFolder folder;
  const auto scheduler = any_scheduler();
  const auto id = scheduler->submit(long_job(folder));
  REQUIRE(id.has_value());
  REQUIRE(scheduler->cancel(*id).has_value());
  CHECK(scheduler->cancel(*id).has_value());
  const auto job = scheduler->job(*id);
  REQUIRE(job.has_value());
  CHECK(job->state == sched::JobState::cancelled);
  CHECK_FALSE(job->explanation.empty());
}

TEST_CASE("any scheduler refuses by name an id that it cannot have") {
  const auto job = any_scheduler()->job(JobId::parse("x@[no]").value());
  REQUIRE_FALSE(job.has_value());
  CHECK(job.error().code == Errc::invalid);
  CHECK(job.error().message.find("`x@[no]`") != std::string::npos);
}

TEST_CASE("any scheduler says when a job would start, or that it cannot tell") {
  const tests::TemporaryFolder folder;
  const auto scheduler = any_scheduler();
  const auto expected = scheduler->expect(long_job(folder));
  if (!expected) {
    CHECK(expected.error().code == Errc::invalid);
    CHECK(scheduler->queue().error().code == Errc::invalid);
    return;
  }
  CHECK(expected->start_time > 0);
  CHECK(scheduler->queue().has_value());
  CHECK(sched::find_jobs(*scheduler, folder.file("script.sbatch"))->empty());
}

TEST_CASE("any scheduler describes nodes and partitions without words of its own") {
  const auto scheduler = any_scheduler();
  const auto nodes = scheduler->nodes();
  REQUIRE(nodes.has_value());
  REQUIRE_FALSE(nodes->empty());
  CHECK_FALSE(nodes->front().away);
  CHECK_FALSE(nodes->front().lost);
  const auto partitions = scheduler->partitions();
  REQUIRE(partitions.has_value());
  REQUIRE_FALSE(partitions->empty());
  CHECK(partitions->front().up);
  CHECK(scheduler->config().has_value());
}
