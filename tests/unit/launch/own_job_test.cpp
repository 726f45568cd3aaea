// SPDX-License-Identifier: Apache-2.0
// Which jobs are the run's, by their batch scripts.
#include "core/launch/job/own_job.hpp"

#include "core/base/files/files.hpp"
#include "core/base/text/text.hpp"
#include "tests/support/temporary_folder.hpp"

#include <doctest/doctest.h>

#include <string>

namespace {

using namespace dts;
using namespace dts::launch;

sched::JobInfo job_with(const std::string& script) {
  sched::JobInfo job;
  job.script_path = script;
  return job;
}

}  // namespace

TEST_CASE("a job with the run's script is the run's, also where a folder above was moved") {
  const tests::TemporaryFolder folder;
  const run::RunDirectory run{folder.file("train-1")};
  REQUIRE(make_folders(run.path));
  CHECK(is_of_run(run, job_with(run.script())));
  CHECK(is_of_run(run, job_with("/elsewhere/train-1/script.sbatch")));
  CHECK_FALSE(is_of_run(run, job_with(folder.file("train-2/script.sbatch"))));
  CHECK_FALSE(is_of_run(run, job_with("/home/somebody/job.sh")));
  CHECK(is_of_run(run, {}));  // nothing is known
}

TEST_CASE("a run that was moved knows the folder that its script was made for") {
  const tests::TemporaryFolder folder;
  const run::RunDirectory run{folder.file("it's moved")};
  const run::RunDirectory before{folder.file("it's made")};
  REQUIRE(make_folders(run.path));
  const auto make_for = [&run](const std::string& place) {
    const std::string comment = "# Made for the run in a folder\n";
    REQUIRE(write_file(run.script(),
                       comment + "exec dtsubmit agent --run " + shell_quote(place) + "\n"));
  };
  CHECK(earlier_folder(run) == std::nullopt);  // without a script
  make_for(run.path);
  CHECK(earlier_folder(run) == std::nullopt);
  REQUIRE(write_file(run.script(),  // of a site's own template
                     "dtsubmit agent --run " + shell_quote(run.path) + " || echo ended\n"));
  CHECK(earlier_folder(run) == std::nullopt);
  make_for(folder.file("./it's moved"));  // the same folder by another path
  CHECK(earlier_folder(run) == std::nullopt);
  make_for(before.path);
  CHECK(earlier_folder(run) == before.path);
  CHECK(check_not_a_copy(run));
  REQUIRE(make_folders(before.path));
  REQUIRE(write_file(before.ledger(), ""));
  CHECK_FALSE(check_not_a_copy(run));
}

TEST_CASE("a run that was renamed is recognized by its script") {
  const tests::TemporaryFolder folder;
  const run::RunDirectory run{folder.file("renamed")};
  REQUIRE(make_folders(run.path));
  REQUIRE(write_file(run.script(), "cd /runs\nexec dtsubmit agent --run /runs/train-1\n"));
  CHECK(is_of_run(run, job_with("/runs/train-1/script.sbatch")));
  for (const char* other : {"/runs/train-2/script.sbatch",
                            "/runs/script.sbatch",
                            "/runs/job.sh",
                            "/runs/train-1/job.sh",
                            "/script.sbatch",
                            "script.sbatch",
                            ""}) {
    CAPTURE(other);
    CHECK_FALSE(is_of_run(run, job_with(other)));
  }
}
