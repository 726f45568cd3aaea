// SPDX-License-Identifier: Apache-2.0
// Which of Slurm's plug-ins is used where both are installed.
#include "core/plugin/scheduler.hpp"

#include <doctest/doctest.h>

#include <cstdlib>
#include <future>
#include <memory>
#include <string>
#include <vector>

using namespace dts;

namespace {

// Those of one of the fixtures' folders, as long as this lives.
struct Installed {
  explicit Installed(const std::string& folder) {
    setenv("DTSUBMIT_PLUGIN_PATH", (std::string(FIXTURE_FOLDER "/") + folder).c_str(), 1);
  }

  Installed(const Installed&) = delete;
  Installed& operator=(const Installed&) = delete;

  ~Installed() { unsetenv("DTSUBMIT_PLUGIN_PATH"); }
};

std::unique_ptr<sched::Scheduler> chosen() {
  auto scheduler = plugin::load_scheduler("");
  REQUIRE_MESSAGE(scheduler.has_value(), scheduler.error().message);
  return *std::move(scheduler);
}

}  // namespace

TEST_CASE("libslurm's plug-in is used where it can be, and nothing needs an explanation") {
  const Installed plugins("works");
  const auto way = chosen()->access();
  CHECK(way.plugin == "slurm");
  CHECK(way.instead.empty());
  CHECK(sched::to_text(way) == "for the tests of the host");
  CHECK(plugin::scheduler_access("")->plugin == "slurm");
}

TEST_CASE("without libslurm the commands are used, and the reason is reported") {
  const Installed plugins("absent");
  const auto way = chosen()->access();
  CHECK(way.plugin == "slurm-commands");
  CHECK(way.instead.find("libslurm.so.99 is not here, which ") == 0);
  CHECK(sched::to_text(way) == "for the tests of the host: " + way.instead);
  CHECK(sched::to_text(*plugin::scheduler_access("")) == sched::to_text(way));
}

TEST_CASE("a plug-in that is asked for by name has no substitute") {
  const Installed plugins("absent");
  const auto scheduler = plugin::load_scheduler("slurm");
  REQUIRE_FALSE(scheduler.has_value());
  CHECK(scheduler.error().code == Errc::unreachable);
  CHECK_FALSE(plugin::scheduler_access("slurm").has_value());
  CHECK(plugin::load_scheduler("slurm-commands").has_value());
}

TEST_CASE("a controller of another release is asked again by commands") {
  const Installed plugins("refused");
  const auto scheduler = chosen();
  CHECK(scheduler->access().plugin == "slurm");
  const auto job = scheduler->job(JobId(7));
  REQUIRE(job.has_value());
  CHECK(job->state == sched::JobState::timed_out);
  CHECK(scheduler->access().plugin == "slurm-commands");
  CHECK(scheduler->access().instead == "another release");
}

TEST_CASE(
    "an order to a controller of another release is not repeated, but the next one goes through") {
  const Installed plugins("refused");
  const auto scheduler = chosen();
  const auto cancelled = scheduler->cancel(JobId(7));
  REQUIRE_FALSE(cancelled.has_value());
  CHECK(cancelled.error().code == Errc::unreachable);
  CHECK(scheduler->cancel(JobId(7)).has_value());
}

TEST_CASE("queries that are refused at the same time are all asked again") {
  const Installed plugins("refused");
  const auto scheduler = chosen();
  std::vector<std::future<bool>> answers;
  for (int i = 0; i < 8; ++i)
    answers.push_back(
        std::async(std::launch::async, [&] { return scheduler->job(JobId(7)).has_value(); }));
  for (auto& answer : answers) CHECK(answer.get());
}

TEST_CASE("by name, a controller of another release stays an error") {
  const Installed plugins("refused");
  const auto scheduler = plugin::load_scheduler("slurm");
  REQUIRE(scheduler.has_value());
  CHECK((*scheduler)->job(JobId(7)).error().message == "another release");
  CHECK((*scheduler)->access().plugin == "slurm");
}
