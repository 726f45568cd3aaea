// SPDX-License-Identifier: Apache-2.0
// For one request, our submission and a real sbatch's must give the same job: the controller's
// record of it, and the environment within it.
#include "core/base/files/files.hpp"
#include "core/base/text/text.hpp"
#include "tests/contract/slurm_cluster.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <csignal>
#include <map>
#include <set>

using namespace contract;
using dts::sched::JobState;
using Fields = std::map<std::string, std::string>;

namespace {

// Fields that differ between two runs of the same request.
const std::set<std::string> k_volatile = {"JobId",
                                          "Priority",
                                          "SubmitTime",
                                          "EligibleTime",
                                          "AccrueTime",
                                          "StartTime",
                                          "EndTime",
                                          "PreemptEligibleTime",
                                          "LastSchedEval",
                                          "Scheduler",
                                          "RunTime",
                                          "Command",
                                          "AllocNode:Sid",
                                          "NodeList",
                                          "BatchHost",
                                          "SLURM_JOBID",
                                          "SLURM_JOB_ID",
                                          "SLURM_TASK_PID",
                                          "SLURM_JOB_NODELIST",
                                          "SLURM_NODELIST",
                                          "SLURMD_NODENAME",
                                          "SLURM_TOPOLOGY_ADDR",
                                          "SLURM_JOB_START_TIME",
                                          "SLURM_JOB_END_TIME",
                                          "SLURM_JOB_SLUID",
                                          "SLUID",
                                          "JobState",
                                          "Reason"};

// Adds "KEY=VALUE" words to `fields`, except the volatile ones. A word without "=" belongs to the
// preceding value.
void add_fields(Fields& fields, const std::string& text, char separator) {
  std::string last;
  for (const std::string& line : dts::split(text, '\n')) {
    if (dts::trim(line).starts_with("SubmitLine="))
      continue;  // describes how it was submitted; from 26.05 on
    for (const std::string& word : dts::split(dts::trim(line), separator)) {
      const std::size_t equals = word.find('=');
      if (word.empty()) continue;  // lines of 24.11 end in blanks
      if (equals == std::string::npos) {
        if (!last.empty()) fields[last] += " " + word;
        continue;
      }
      last = word.substr(0, equals);
      if (k_volatile.contains(last))
        last.clear();
      else
        fields[last] = word.substr(equals + 1);
    }
  }
}

// A script that records its environment.
std::string probe_script(const std::string& folder) {
  return fmt::format(
      "env | grep '^SLURM' > {0}/env\nscontrol show job $SLURM_JOB_ID > {0}/job\n"
      "ulimit -Sa > {0}/limits\numask > {0}/umask\npwd > {0}/pwd\n"
      "touch {0}/done\n",
      folder);
}

// What the job in this folder recorded, once it has ended.
Fields seen_in(const std::string& folder) {
  REQUIRE(eventually([&] { return dts::exists(folder + "/done"); }));
  Fields fields;
  add_fields(fields, dts::read_file(folder + "/job").value_or(""), ' ');
  add_fields(fields, dts::read_file(folder + "/env").value_or(""), '\n');
  for (const char* name : {"limits", "umask", "pwd"})
    fields[name] = dts::read_file(folder + "/" + name).value_or("");
  CHECK(fields.size() > 50);
  return fields;
}

// Both jobs write into the same folder, one after the other, so that their paths are equal, too.
void check_same_as_sbatch(dts::sched::Submission submission, std::vector<std::string> options) {
  const std::string folder = fresh_folder();
  submission.script = "#!/bin/bash\n" + probe_script(folder);
  submission.work_folder = folder;
  submission.output = folder + "/out";
  {
    const Job job(submission);
    REQUIRE(job.reaches(JobState::completed));
  }
  const Fields ours = seen_in(folder);

  REQUIRE(dts::remove_all(folder + "/done").has_value());
  const std::string file = folder + "/script";
  REQUIRE(dts::write_file(file, submission.script).has_value());
  options.insert(options.begin(),
                 {"env",
                  "-i",
                  "PATH=" + std::string(std::getenv("PATH")),
                  "SLURM_CONF=" + std::string(std::getenv("SLURM_CONF")),
                  "sbatch",
                  "--parsable",
                  "--chdir=" + folder,
                  "--output=" + folder + "/out",
                  "--open-mode=append",
                  "--job-name=" + submission.job_name});
  options.push_back(file);
  const auto sbatch = command(options);
  REQUIRE_MESSAGE(sbatch.exit_code == 0, sbatch.err);
  Fields theirs = seen_in(folder);
  theirs["SLURM_SUBMIT_DIR"] = folder;  // sbatch gives its own folder, with or without --chdir

  for (const auto& field : theirs) {
    const auto& [key, value] = field;
    INFO(field.first);
    CHECK((ours.contains(key) ? ours.at(key) : "absent") == value);
  }
  for (const auto& field : ours)
    CHECK_MESSAGE(theirs.contains(field.first),
                  field.first << "=" << field.second << " is only in our job");
}

}  // namespace

TEST_CASE("a job of 2 nodes x 8 GPUs is the job that sbatch would have made") {
  auto submission = job_of("");
  submission.nodes = 2;
  submission.ntasks_per_node = 8;
  submission.cpus_per_task = 2;
  submission.gpus_per_node = 8;
  submission.memory_mib = 1000;
  submission.time_limit = std::chrono::minutes(7);
  submission.requeue = true;
  submission.warn_signal = SIGUSR1;
  submission.warn_seconds = 60;
  submission.options["comment"] = "a \"quoted\" \\ comment";
  submission.partition = "low";
  check_same_as_sbatch(submission,
                       {"--nodes=2",
                        "--ntasks-per-node=8",
                        "--cpus-per-task=2",
                        "--gpus-per-node=8",
                        "--mem=1000",
                        "--time=7",
                        "--requeue",
                        "--signal=B:USR1@60",
                        "--comment=" + submission.options["comment"],
                        "--partition=low"});
}

TEST_CASE("a plain job is the job that sbatch would have made") {
  auto submission = job_of("");
  check_same_as_sbatch(submission, {"--nodes=1", "--ntasks-per-node=1", "--time=5"});
}

TEST_CASE("all of a node's memory, no limit of time and no requeue are what sbatch makes of them") {
  auto submission = job_of("");
  submission.memory_mib = 0;
  submission.time_limit = std::chrono::seconds::max();
  submission.requeue = false;
  submission.exclude_nodes = "n0";
  check_same_as_sbatch(submission,
                       {"--nodes=1",
                        "--ntasks-per-node=1",
                        "--mem=0",
                        "--time=UNLIMITED",
                        "--no-requeue",
                        "--exclude=n0"});
}

TEST_CASE("a variable of any bytes arrives in the job as it was given") {
  auto submission = job_of("printf %s \"$ODD\" > odd");
  std::string value;
  for (int byte = 1; byte < 256; ++byte)
    if (byte != '\n') value += static_cast<char>(byte);
  submission.environment.push_back("ODD=" + value);
  const Job job(submission);
  REQUIRE(job.reaches(JobState::completed));
  CHECK(dts::read_file(submission.work_folder + "/odd").value_or("") == value);
}
