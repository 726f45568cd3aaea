// SPDX-License-Identifier: Apache-2.0
// The life of a job as the plug-in reports and controls it.
#include "core/base/files/files.hpp"
#include "core/base/text/text.hpp"
#include "tests/contract/slurm_cluster.hpp"

#include <doctest/doctest.h>

#include <csignal>

using namespace contract;
using dts::Errc;
using dts::sched::JobState;

namespace {

constexpr const char* k_sleep = "sleep 300 & wait";

std::string output_of(const dts::sched::Submission& submission) {
  return dts::read_file(submission.output).value_or("");
}

// Slurm's own message; what sbatch printed before may follow it in parentheses.
std::string sentence(const std::string& message) {
  return message.substr(0, message.find(" ("));
}

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != text.npos;
}

}  // namespace

TEST_CASE("a job that exits 0 is completed, with its nodes and times") {
  const auto submission = job_of("echo hello");
  const Job job(submission);
  REQUIRE(job.reaches(JobState::completed));
  const auto info = job.info();
  CHECK(info.exit_code == 0);
  CHECK(info.exit_signal == 0);
  CHECK_FALSE(info.nodes.empty());
  CHECK(info.start_time > 0);
  CHECK(info.end_time >= info.start_time);
  CHECK(info.preempt_time == 0);
  CHECK(output_of(submission) == "hello\n");
}

TEST_CASE("a job that exits 85 has failed with exit code 85") {
  const Job job(job_of("exit 85"));
  REQUIRE(job.reaches(JobState::failed));
  CHECK(job.info().exit_code == 85);
  CHECK(job.info().reason == "NonZeroExitCode");
}

TEST_CASE("a wrong partition is rejected with sbatch's own words") {
  auto submission = job_of("true");
  submission.partition = "no-such-partition";
  const auto id = scheduler().submit(submission);
  REQUIRE_FALSE(id.has_value());
  CHECK(id.error().code == Errc::rejected);
  const auto sbatch = command({"sbatch", "--partition=no-such-partition", "--wrap=true"});
  CHECK(has(sbatch.err, "Batch job submission failed: " + sentence(id.error().message) + "\n"));
  CHECK(has(id.error().hint, "--partition"));
}

TEST_CASE("more GPUs than any node has are rejected with sbatch's own words") {
  auto submission = job_of("true");
  submission.gpus_per_node = 9;
  const auto id = scheduler().submit(submission);
  REQUIRE_FALSE(id.has_value());
  CHECK(id.error().code == Errc::rejected);
  const auto sbatch = command({"sbatch", "--gpus-per-node=9", "--wrap=true"});
  CHECK(has(sbatch.err, "Batch job submission failed: " + sentence(id.error().message) + "\n"));
}

TEST_CASE("more nodes than there are: Slurm lets it wait for ever, with a reason, or refuses it") {
  auto submission = job_of("true");
  submission.nodes = 99;
  const auto id = scheduler().submit(submission);
  if (!id) {  // 24.11
    CHECK(id.error().code == Errc::rejected);
    CHECK(has(id.error().hint, "--nodes"));
    return;
  }
  const auto info = [&] { return scheduler().job(*id).value_or(dts::sched::JobInfo{}); };
  CHECK(eventually([&] { return !info().reason.empty(); }));
  CHECK(info().state == JobState::pending);
  CHECK_FALSE(info().explanation.empty());
  MESSAGE("reason: " << info().reason);
  CHECK(scheduler().cancel(*id).has_value());
}

TEST_CASE("a running job says which processors of each node it has, as scontrol does") {
  auto submission = job_of(k_sleep);
  submission.nodes = 2;
  const Job job(submission);
  REQUIRE(job.reaches(JobState::running));
  const auto cpus = job.info().cpus;
  REQUIRE(cpus.size() == 2);
  const auto shown = command({"scontrol", "--details", "show", "job", job.id().text()});
  for (const std::string& numbers : cpus) CHECK(has(shown.out, "CPU_IDs=" + numbers + " "));
}

TEST_CASE("cancelling ends a running job, and once more is fine") {
  const Job job(job_of(k_sleep));
  REQUIRE(job.reaches(JobState::running));
  CHECK(scheduler().cancel(job.id()).has_value());
  CHECK(job.reaches(JobState::cancelled));
  CHECK(scheduler().cancel(job.id()).has_value());
}

TEST_CASE("a requeued job waits again under the same id with one restart more") {
  const Job job(job_of(k_sleep));
  REQUIRE(job.reaches(JobState::running));
  CHECK(job.info().restart_count == 0);
  REQUIRE(scheduler().requeue(job.id()).has_value());
  REQUIRE(job.reaches(JobState::pending));
  CHECK(job.info().restart_count == 1);
  CHECK(scheduler().requeue(job.id()).has_value());
  CHECK(job.reaches(JobState::running));
}

TEST_CASE("a job submitted not to be requeued cannot be") {
  auto submission = job_of(k_sleep);
  submission.requeue = false;
  const Job job(submission);
  REQUIRE(job.reaches(JobState::running));
  CHECK_FALSE(job.info().requeue);
  const auto requeued = scheduler().requeue(job.id());
  REQUIRE_FALSE(requeued.has_value());
  CHECK(requeued.error().code == Errc::rejected);
  CHECK(has(requeued.error().message, "Requested operation is presently disabled"));
}

TEST_CASE("a job that may not come back any more cannot be requeued") {
  const Job job(job_of(k_sleep));
  REQUIRE(job.reaches(JobState::running));
  CHECK(job.info().requeue);
  REQUIRE(scheduler().forbid_requeue(job.id()).has_value());
  CHECK_FALSE(job.info().requeue);
  CHECK(scheduler().requeue(job.id()).error().code == Errc::rejected);
  CHECK(scheduler().forbid_requeue(dts::JobId(999999)).error().code == Errc::not_found);
}

TEST_CASE("a signal reaches the batch script and nothing below it") {
  const auto submission = job_of(
      "bash -c 'trap \"echo child\" USR1; echo ready; while :; do sleep 0.1; done' &\n"
      "trap 'echo script' USR1\n"
      "while :; do wait; done");
  const Job job(submission);
  REQUIRE(eventually([&] { return has(output_of(submission), "ready"); }));
  REQUIRE(scheduler().signal_batch(job.id(), SIGUSR1).has_value());
  CHECK(eventually([&] { return has(output_of(submission), "script"); }));
  CHECK_FALSE(
      eventually([&] { return has(output_of(submission), "child"); }, std::chrono::seconds(1)));
}

TEST_CASE("a task of an array is a job of its own") {
  const auto sbatch = command({"sbatch", "--parsable", "--array=1-2", "--wrap=sleep 60"});
  REQUIRE_MESSAGE(sbatch.exit_code == 0, sbatch.err);
  const std::string array(dts::trim(sbatch.out));
  const auto id = [&](const char* task) { return dts::JobId::parse(array + "_" + task).value(); };
  const auto is = [&](const char* task, JobState state) {
    const auto info = scheduler().job(id(task));
    return info && info->state == state && !info->completing;
  };
  REQUIRE(eventually([&] { return is("1", JobState::running) && is("2", JobState::running); }));
  CHECK(scheduler().job(id("1"))->id != scheduler().job(id("2"))->id);
  CHECK(scheduler().cancel(id("2")).has_value());
  CHECK(eventually([&] { return is("2", JobState::cancelled); }));
  CHECK(is("1", JobState::running));
  CHECK(scheduler().cancel(id("1")).has_value());
  CHECK(scheduler().job(id("9")).error().code == Errc::not_found);
}

TEST_CASE("an id that is none of Slurm's is refused by name") {
  const auto job = scheduler().job(dts::JobId::parse("q7.alpha").value());
  REQUIRE_FALSE(job.has_value());
  CHECK(job.error().code == Errc::invalid);
  CHECK(has(job.error().message, "`q7.alpha` is not a job id of Slurm"));
}

TEST_CASE("a job that does not exist is not found by any operation") {
  CHECK(scheduler().job(dts::JobId(999999)).error().code == Errc::not_found);
  CHECK(scheduler().cancel(dts::JobId(999999)).error().code == Errc::not_found);
  CHECK(scheduler().requeue(dts::JobId(999999)).error().code == Errc::not_found);
  CHECK(scheduler().signal_batch(dts::JobId(999999), SIGUSR1).error().code == Errc::not_found);
}

TEST_CASE("a job being preempted runs on through its grace time with preempt_time set") {
  auto submission = job_of(k_sleep);
  submission.partition = "low";
  submission.nodes = 2;
  submission.gpus_per_node = 8;
  const Job low(submission);
  REQUIRE(low.reaches(JobState::running));
  CHECK(low.info().preempt_time == 0);
  auto urgent = job_of("true");
  urgent.partition = "high";
  urgent.nodes = 2;
  urgent.gpus_per_node = 8;
  const Job high(urgent);
  REQUIRE(eventually([&] { return low.info().preempt_time != 0; }));
  const auto info = low.info();
  CHECK(info.state == JobState::running);
  CHECK(info.restart_count == 0);
  CHECK(info.end_time - info.preempt_time >= 10);  // the deadline has moved to preemption + grace
  CHECK(info.end_time - info.preempt_time <= 30);
}
