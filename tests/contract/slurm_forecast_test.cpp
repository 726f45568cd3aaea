// SPDX-License-Identifier: Apache-2.0
// What the plug-in predicts for a job, compared with the output of sbatch --test-only and with what
// then happens. For many states of a queue, see tests/integration/plan.py.
#include "core/base/text/text.hpp"
#include "tests/contract/slurm_cluster.hpp"
#include "tests/support/contains.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <ctime>

using namespace contract;
using dts::Errc;
using dts::sched::JobState;

namespace {

// A job that needs both nodes of the cluster completely.
dts::sched::Submission whole_job(const std::string& script) {
  auto submission = job_of(script);
  submission.nodes = 2;
  submission.options["exclusive"] = "";
  return submission;
}

}  // namespace

TEST_CASE("on idle nodes a job is expected to start at once, and nothing is submitted") {
  auto submission = job_of("true");
  submission.nodes = 2;
  submission.cpus_per_task = 3;
  submission.script_path = "/nonexistent/script";
  const auto before = std::time(nullptr);
  const auto expected = scheduler().expect(submission);
  REQUIRE_MESSAGE(expected.has_value(), expected.error().message);
  CHECK(expected->start_time >= before - 1);
  CHECK(expected->start_time <= std::time(nullptr) + 1);
  CHECK(expected->partition == "low");
  CHECK(expected->processors == 6);
  CHECK_FALSE(expected->nodes.empty());
  CHECK(expected->preempted.empty());
  CHECK(command({"squeue", "-h", "-n", "contract", "-t", "PD,R"}).out.empty());
}

TEST_CASE("behind a job it is expected at that job's end, and in a higher partition in its place") {
  const Job running(whole_job("sleep 300"));
  REQUIRE(running.reaches(JobState::running));
  const auto end = running.info().end_time;
  const auto later = scheduler().expect(whole_job("true"));
  REQUIRE_MESSAGE(later.has_value(), later.error().message);
  CHECK(std::abs(later->start_time - end) <= 60);  // Slurm rounds ends up
  auto urgent = whole_job("true");
  urgent.partition = "high";
  const auto preempts = scheduler().expect(urgent);
  REQUIRE_MESSAGE(preempts.has_value(), preempts.error().message);
  CHECK(preempts->partition == "high");
  REQUIRE(preempts->preempted.size() == 1);
  CHECK(preempts->preempted.front() == running.id());
}

TEST_CASE("what can never run is rejected in sbatch's own words") {
  auto submission = job_of("true");
  submission.gpus_per_node = 9;
  const auto expected = scheduler().expect(submission);
  REQUIRE_FALSE(expected.has_value());
  CHECK(expected.error().code == Errc::rejected);
  const auto sbatch = command({"sbatch", "--test-only", "--gpus-per-node=9", "--wrap=true"});
  CHECK(sbatch.exit_code != 0);
  CHECK(dts::tests::contains(sbatch.err, "allocation failure: " + expected.error().message + "\n"));
}

TEST_CASE("an option that only sbatch reads is expected through sbatch, and so are components") {
  auto submission = job_of("true");
  submission.once["begin"] = "now+1hour";
  const auto later = scheduler().expect(submission);
  REQUIRE_MESSAGE(later.has_value(), later.error().message);
  CHECK(later->start_time >= std::time(nullptr) + 3500);
  auto first = job_of("true");
  first.components.push_back(first);
  const auto both = scheduler().expect(first);
  REQUIRE_MESSAGE(both.has_value(), both.error().message);
  CHECK(both->processors == 2);
  CHECK_FALSE(both->nodes.empty());
}

TEST_CASE("the queue lists running and waiting jobs with nodes and ends") {
  const Job running(whole_job("sleep 300"));
  REQUIRE(running.reaches(JobState::running));
  const Job waiting(whole_job("true"));
  const auto queue = scheduler().queue();
  REQUIRE(queue.has_value());
  const auto of = [&](const Job& job) {
    return std::find_if(
        queue->begin(), queue->end(), [&](const auto& one) { return one.id == job.id(); });
  };
  REQUIRE(of(running) != queue->end());
  CHECK_FALSE(of(running)->waits);
  CHECK(of(running)->partition == "low");
  CHECK(of(running)->nodes == running.info().nodes);
  CHECK(of(running)->end_time == running.info().end_time);
  REQUIRE(of(waiting) != queue->end());
  CHECK(of(waiting)->waits);
  CHECK(of(waiting)->nodes.empty());
  CHECK(of(waiting)->end_time == 0);
}
