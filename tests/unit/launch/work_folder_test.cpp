// SPDX-License-Identifier: Apache-2.0
// What a job runs, and its working folder, gone and back.
#include "core/base/files/files.hpp"
#include "core/launch/job/assignment.hpp"
#include "core/launch/job/successor.hpp"
#include "tests/support/temporary_folder.hpp"

#include <doctest/doctest.h>

#include <filesystem>
#include <string>
#include <vector>

namespace fs = std::filesystem;
using namespace dts;

namespace {

struct HereAgain {
  ~HereAgain() { fs::current_path(before); }

  fs::path before = fs::current_path();
};

}  // namespace

TEST_CASE("an attempt enters its working folder again if it was removed and is back") {
  const tests::TemporaryFolder folder;
  const HereAgain again;
  const run::RunDirectory run{folder.path};
  const std::string work = fs::canonical(folder.path).string() + "/work";
  REQUIRE(write_file(run.provenance(), "{\"folder\": \"" + work + "\"}"));
  fs::create_directory(work);
  fs::current_path(work);
  CHECK(launch::enter_work_folder(run).empty());
  fs::remove(work);
  CHECK(launch::enter_work_folder(run) ==
        "the working folder " + work + " cannot be entered: No such file or directory");
  fs::create_directory(work);
  CHECK(launch::enter_work_folder(run).empty());
  CHECK(fs::current_path() == work);
}

TEST_CASE("a rank that was started elsewhere enters the job's folder, or says where it stays") {
  const tests::TemporaryFolder folder;
  const HereAgain again;
  const std::string work = fs::canonical(folder.path).string() + "/work";
  fs::current_path("/");
  CHECK(launch::enter_folder("").empty());
  CHECK(launch::enter_folder(work) ==
        "the working folder " + work +
            " cannot be entered: No such file or directory; the program runs in /");
  fs::create_directory(work);
  CHECK(launch::enter_folder(work).empty());
  CHECK(fs::current_path() == work);
}

TEST_CASE("a job that Slurm has started in /tmp enters its folder, and any other stays") {
  const tests::TemporaryFolder folder;
  const HereAgain again;
  const run::RunDirectory run{folder.path};
  const std::string work = fs::canonical(folder.path).string() + "/work";
  REQUIRE(write_file(run.provenance(), "{\"folder\": \"" + work + "\"}"));
  fs::current_path("/tmp");
  CHECK(launch::enter_work_folder(run).ends_with(
      "No such file or directory; the program runs in /tmp"));
  fs::create_directory(work);
  CHECK(launch::enter_work_folder(run).empty());
  CHECK(fs::current_path() == work);
  fs::current_path(folder.path);  // as a set-up may have it
  CHECK(launch::enter_work_folder(run).empty());
  CHECK(fs::current_path() == fs::canonical(folder.path));
}

TEST_CASE("the container runtimes of a job: its own, or those that its command or script names") {
  const tests::TemporaryFolder folder;
  const std::string script = folder.file("train.sh");
  REQUIRE(write_file(script, "#!/bin/sh\nexec /usr/bin/apptainer exec i.sif ./train\n"));
  const auto used = [](const std::vector<std::string>& command, const spec::Container& container) {
    launch::Assignment job;
    job.plan.command = command;
    job.spec.container = container;
    return launch::used_runtimes(job);
  };
  using Names = std::vector<std::string>;
  CHECK(used({"python3", "train.py"}, {}).empty());
  CHECK(used({"podman", "run", "i", "./train"}, {}) == Names{"podman"});
  CHECK(used({"bash", "-e", script}, {}) == Names{"apptainer"});
  CHECK(used({script}, {}) == Names{"apptainer"});
  CHECK(used({"./train"}, {"/i", spec::ContainerRuntime::docker}) == Names{"docker"});
  CHECK(used({"./train"}, {"/i"}).size() == spec::container_runtimes().size());
}
