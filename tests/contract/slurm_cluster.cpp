// SPDX-License-Identifier: Apache-2.0
#include "tests/contract/slurm_cluster.hpp"

#include "core/base/files/files.hpp"
#include "core/plugin/scheduler.hpp"

#include <doctest/doctest.h>

#include <cstdlib>
#include <memory>
#include <thread>

namespace contract {
namespace {

// Removes every folder created here when the process ends.
class Folders {
 public:
  Folders() = default;
  Folders(const Folders&) = delete;
  Folders& operator=(const Folders&) = delete;

  ~Folders() {
    for (const std::string& folder : made_) (void)dts::remove_all(folder);
  }

  std::string make() {
    char name[] = "/tmp/dts-contract-XXXXXX";
    REQUIRE(mkdtemp(name) != nullptr);
    return made_.emplace_back(name);
  }

 private:
  std::vector<std::string> made_;
};

}  // namespace

dts::sched::Scheduler& scheduler() {
  static const std::unique_ptr<dts::sched::Scheduler> loaded = [] {
    auto result = dts::plugin::load_scheduler();
    if (!result) FAIL(result.error().message);
    return *std::move(result);
  }();
  return *loaded;
}

std::string fresh_folder() {
  static Folders folders;
  return folders.make();
}

dts::sched::Submission job_of(const std::string& script) {
  dts::sched::Submission job;
  const std::string folder = fresh_folder();
  job.script = "#!/bin/bash\n" + script + "\n";
  job.environment = {std::string("PATH=") + std::getenv("PATH")};
  job.work_folder = folder;
  job.job_name = "contract";
  job.output = folder + "/out";
  job.time_limit = std::chrono::minutes(5);
  return job;
}

dts::Output command(const std::vector<std::string>& argv) {
  dts::Command request;
  request.argv = argv;
  const auto output = dts::run_process(request, std::chrono::seconds(30));
  if (!output) FAIL(output.error().message);
  return *output;
}

bool eventually(const std::function<bool()>& holds, std::chrono::seconds limit) {
  const auto deadline = std::chrono::steady_clock::now() + limit;
  while (!holds()) {
    if (std::chrono::steady_clock::now() > deadline) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  return true;
}

Job::Job(const dts::sched::Submission& submission) {
  const auto id = scheduler().submit(submission);
  if (!id) FAIL(id.error().message);
  id_ = *id;
}

Job::~Job() {
  (void)scheduler().cancel(id_);
}

dts::sched::JobInfo Job::info() const {
  const auto info = scheduler().job(id_);
  if (!info) FAIL(info.error().message);
  return *info;
}

bool Job::reaches(dts::sched::JobState state) const {
  return eventually([&] { return info().state == state; });
}

}  // namespace contract
