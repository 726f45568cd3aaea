// SPDX-License-Identifier: Apache-2.0
// A Scheduler's calls as JSON, seen from the plug-in's side.
#include "core/plugin/scheduler.hpp"

#include "core/base/files/files.hpp"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>
#include <unistd.h>

#include <cstdlib>

using nlohmann::json;

namespace {

std::unique_ptr<dts::sched::Scheduler> fixture_scheduler() {
  setenv("DTSUBMIT_PLUGIN_PATH", FIXTURE_FOLDER, 1);
  auto scheduler = dts::plugin::load_scheduler("fixture");
  unsetenv("DTSUBMIT_PLUGIN_PATH");
  REQUIRE(scheduler.has_value());
  return *std::move(scheduler);
}

// What the plug-in is asked for this submission.
json request_of(const dts::sched::Submission& submission) {
  const std::string path = "/tmp/dts-scheduler-test-" + std::to_string(getpid());
  setenv("FIXTURE_REQUEST", path.c_str(), 1);
  const auto id = fixture_scheduler()->submit(submission);
  REQUIRE(id.has_value());
  CHECK(*id == dts::JobId(42));
  const auto text = dts::read_file(path);
  REQUIRE(text.has_value());
  unlink(path.c_str());
  return json::parse(*text);
}

}  // namespace

TEST_CASE("options that were not given are not in the request") {
  dts::sched::Submission submission;
  submission.script = "#!/bin/sh\n";
  const json request = request_of(submission);
  for (const char* key : {"partition",
                          "account",
                          "gpus_per_node",
                          "memory_mib",
                          "requeue",
                          "time_limit_minutes",
                          "cpus_per_task",
                          "warn_signal",
                          "output"})
    CHECK_FALSE(request.contains(key));
  CHECK(request["nodes"] == 1);
  CHECK(request["script"] == "#!/bin/sh\n");
}

TEST_CASE("a time limit goes as whole minutes, rounded up, or as unlimited") {
  dts::sched::Submission submission;
  submission.time_limit = std::chrono::seconds(61);
  CHECK(request_of(submission)["time_limit_minutes"] == 2);
  submission.time_limit = std::chrono::seconds::max();
  CHECK(request_of(submission)["time_limit_minutes"] == "unlimited");
}

TEST_CASE("zero memory means all of the node and is not the same as none asked") {
  dts::sched::Submission submission;
  submission.memory_mib = 0;
  CHECK(request_of(submission)["memory_mib"] == 0);
}

TEST_CASE("bytes that are not UTF-8 travel as hexadecimal, the rest as text") {
  dts::sched::Submission submission;
  submission.environment = {"A=plain", "B=\xff\x01z"};
  const json request = request_of(submission);
  CHECK(request["environment"][0] == "A=plain");
  CHECK(request["environment"][1]["hex"] == "423dff017a");
}

TEST_CASE("components of a heterogeneous job are requests without script and environment") {
  dts::sched::Submission submission;
  submission.script = "#!/bin/sh\n";
  submission.environment = {"A=B"};
  submission.components.resize(2);
  submission.components[1].partition = "gpu";
  submission.components[1].gpus_per_node = 8;
  const json request = request_of(submission);
  REQUIRE(request["components"].size() == 2);
  const json& last = request["components"][1];
  CHECK(last["partition"] == "gpu");
  CHECK(last["gpus_per_node"] == 8);
  for (const char* key : {"script", "environment", "output", "components"})
    CHECK_FALSE(last.contains(key));
}

TEST_CASE("a job's reply is read, and what is absent or of a wrong type keeps its default") {
  const auto job = fixture_scheduler()->job(dts::JobId(7));
  REQUIRE(job.has_value());
  CHECK(job->id == dts::JobId(7));
  CHECK(job->state == dts::sched::JobState::timed_out);
  CHECK(job->completing);
  CHECK(job->restart_count == 3);
  CHECK(job->preempt_time == 5);
  CHECK(job->exit_code == 0);
  CHECK(job->nodes.empty());
}
