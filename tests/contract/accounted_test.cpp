// SPDX-License-Identifier: Apache-2.0
// Output of sacct for ended jobs (22.05.8, --allocations --noheader --parsable2), and the replies
// made from it.
#include "plugins/slurm_shared/accounting.hpp"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

using slurm_plugin::accounted_job;

TEST_CASE("a job that slurmctld has forgotten is told as the accounting knows it, and marked") {
  const auto job = accounted_job("41|FAILED|3:0|100|160|n[0-1]|low\n", "41");
  REQUIRE(job.is_object());
  CHECK(job["accounted"] == true);
  CHECK(job["state"] == "failed");
  CHECK(job["exit_code"] == 3);
  CHECK(job["start_time"] == 100);
  CHECK(job["end_time"] == 160);
  CHECK(job["nodes"] == "n[0-1]");
  CHECK(job["partition"] == "low");
  CHECK(job["explanation"] == "its batch script ended with exit code 3");
}

TEST_CASE("the accounting knows who cancelled a job") {
  CHECK(accounted_job("41|CANCELLED by 0|0:0|Unknown|160|None assigned|low\n",
                      "41")["explanation"] == "it was cancelled by root");
  CHECK(accounted_job("41|CANCELLED by 3999999999|0:0|Unknown|160||low\n", "41")["explanation"] ==
        "it was cancelled by user 3999999999");
  CHECK(accounted_job("41|CANCELLED|0:15|100|160|n0|low\n", "41")["explanation"] ==
        "it was cancelled");
}

TEST_CASE("a job that never had nodes has none") {
  CHECK(accounted_job("41|CANCELLED by 0|0:0|Unknown|160|None assigned|low\n", "41")["nodes"] ==
        "");
}

TEST_CASE("tasks and components are found by their names, other jobs and steps are not") {
  const char* printed =
      "40_2|COMPLETED|0:0|1|2|n0|low\n44+0|TIMEOUT|0:0|1|2|n0|low\n44+1|FAILED|1:0|1|2|n1|low\n";
  CHECK(accounted_job(printed, "40_2")["state"] == "completed");
  CHECK(accounted_job(printed, "44")["state"] == "timed_out");
  CHECK(accounted_job(printed, "44+1")["state"] == "failed");
  CHECK(accounted_job(printed, "40").is_null());
}

TEST_CASE("a job that has not ended, and a line that is not sacct's, are ignored") {
  for (const char* printed : {"",
                              "\n",
                              "41\n",
                              "41|RUNNING|0:0|100|Unknown|n0|low\n",
                              "41|PENDING|0:0|Unknown|Unknown||low\n",
                              "41|FAILED|1:0\n"})
    CHECK(accounted_job(printed, "41").is_null());
}
