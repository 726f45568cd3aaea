// SPDX-License-Identifier: Apache-2.0
#include "core/drill/ground.hpp"

#include "core/base/files/files.hpp"
#include "core/base/files/temporary_folder.hpp"
#include "core/base/os/interruption.hpp"
#include "core/base/os/log.hpp"
#include "core/base/os/process.hpp"
#include "core/base/text/text.hpp"
#include "core/cluster/cluster.hpp"
#include "core/cluster/loss.hpp"
#include "core/drill/watch.hpp"
#include "core/launch/job/successor.hpp"
#include "core/plugin/scheduler.hpp"
#include "core/run/index/find.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <sys/mount.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <thread>

namespace dts::drill {
namespace {

constexpr unsigned k_nodes = 3, k_used = 2, k_gpus = 2;
constexpr std::int64_t k_steps = 60;
constexpr std::int64_t k_half_way = k_ground_interval + k_ground_interval / 2;
constexpr std::chrono::seconds k_command_limit{120};
constexpr std::chrono::seconds k_start_limit{180};
constexpr std::chrono::seconds k_finish_limit{300};
constexpr std::chrono::seconds k_clear_limit{60};
constexpr std::chrono::milliseconds k_look_at_state{200};
// A busy machine with two cores may need 15 s to get four ranks through MPI_Init.
constexpr const char* k_hang = "0:30";
constexpr const char* k_filler = "/runs/.filler";
constexpr const char* k_kept = "kept";

Result<std::string> run_ourselves(std::vector<std::string> words) {
  Command command;
  command.argv = std::move(words);
  command.argv.insert(command.argv.begin(), program_path());
  command.env = launch::scrubbed_environment();
  DTS_ASSIGN(const Output output, run_process(std::move(command), k_command_limit));
  if (output.exit_code != 0)
    return fail(Errc::io,
                fmt::format("dtsubmit exited {}: {}", output.exit_code, trim(output.err)));
  return output.out;
}

// Returns once `condition` holds; after `limit`, Errc::io with "WHAT does not come".
template <class Condition>
Result<void> wait_for(const std::string& what,
                      std::chrono::seconds limit,
                      const Condition& condition) {
  const auto until = Clock::now() + limit;
  while (true) {
    DTS_ASSIGN(const bool holds, condition());
    if (holds) return {};
    if (Clock::now() > until) return fail(Errc::io, what + " does not come");
    DTS_TRY(check_interruption());
    std::this_thread::sleep_for(k_look_at_state);
  }
}

}  // namespace

Result<std::unique_ptr<Ground>> Ground::prepare(std::string dttrain) {
  std::unique_ptr<Ground> ground(new Ground);
  DTS_TRY(ground->start(std::move(dttrain)));
  return ground;
}

Result<void> Ground::start(std::string dttrain) {
  dttrain_ = std::move(dttrain);
  DTS_ASSIGN(place_, make_temporary_folder("dts-drill"));
  DTS_TRY(make_folders(place_ + "/runs"));
  // Files that Open MPI's killed processes leave behind are removed along with it.
  DTS_TRY(make_folders(place_ + "/tmp"));
  ::setenv("TMPDIR", (place_ + "/tmp").c_str(), 1);
  // Mounted before the nodes start, since they might not see later mounts.
  mounted_ = ::mount("tmpfs", (place_ + "/runs").c_str(), "tmpfs", 0, "size=48m") == 0;
  DTS_TRY(train_undisturbed());
  DTS_TRY(check_interruption());
  cluster::ClusterSpec spec;
  spec.name = fmt::format("drill-{}", ::getpid());
  spec.folder = place_ + "/cluster";
  spec.nodes = k_nodes;
  spec.gpus_per_node = k_gpus;
  spec.extra = {"KillWait=10"};
  spec.with_process = ::getpid();
  cluster_ = spec.folder;
  DTS_ASSIGN(const cluster::UpResult up, cluster::up(spec));
  ::setenv("SLURM_CONF", up.conf.c_str(), 1);
  DTS_ASSIGN(scheduler_, plugin::load_scheduler());
  return {};
}

Ground::~Ground() {
  if (!cluster_.empty())
    if (const auto down = cluster::down(cluster_); !down)
      log("{}; try: dtsubmit cluster down --folder {}", down.error().message, cluster_);
  if (mounted_ && ::umount2((place_ + "/runs").c_str(), MNT_DETACH) != 0)
    log("cannot unmount {}/runs", place_);
  if (place_.empty()) return;
  for (const std::string& name : list_folder(place_))
    if (!kept_ || name != k_kept)
      if (const auto removed = remove_all(place_ + "/" + name); !removed)
        log("{}", removed.error().message);
  if (!kept_) (void)remove_all(place_);
}

std::vector<std::string> Ground::training(const std::string& pause) const {
  return {dttrain_,
          "--steps",
          std::to_string(k_steps),
          "--save-every",
          std::to_string(k_ground_interval),
          "--step-delay",
          pause};
}

Result<void> Ground::train_undisturbed() {
  std::vector<std::string> words{"run", "--runs", place_ + "/alone", "--"};
  for (std::string& word : training("0")) words.push_back(std::move(word));
  DTS_TRY(run_ourselves(std::move(words)));
  DTS_ASSIGN(const run::RunDirectory run, run::find_run(place_ + "/alone", "last"));
  DTS_ASSIGN(const RunView story, read_story(run));
  undisturbed_ = story.summary.digest;
  return {};
}

Result<Target> Ground::train() {
  run_ = {};
  std::vector<std::string> words{"submit",
                                 "--runs",
                                 place_ + "/runs",
                                 "--json",
                                 "--partition",
                                 "low",
                                 "--nodes",
                                 std::to_string(k_used),
                                 "--gpus-per-node",
                                 std::to_string(k_gpus),
                                 "--hang-timeout",
                                 k_hang,
                                 "--"};
  for (std::string& word : training("300")) words.push_back(std::move(word));
  DTS_ASSIGN(const std::string answer, run_ourselves(std::move(words)));
  const auto document = nlohmann::json::parse(answer, nullptr, false);
  if (!document.is_object())
    return fail(Errc::internal, "`dtsubmit submit --json` printed no document");
  run_.path = document.value("run_directory", "");
  Ending ending(scheduler_.get());
  DTS_TRY(wait_for("the training's checkpoint", k_start_limit, [&]() -> Result<bool> {
    DTS_ASSIGN(const RunView story, read_story(run_));
    const auto& attempts = story.summary.attempts;
    if (!attempts.empty() && attempts.back().last_step >= k_half_way) return true;
    if (!ending.seen(story.events)) return false;
    return fail(Errc::io, "the training ended before it had a checkpoint");
  }));
  return find_target(run_, scheduler_.get(), k_used * k_gpus - 1);
}

Result<void> Ground::preempt() const {
  sched::Submission taker;
  taker.script = "#!/bin/sh\nsleep 1\n";
  taker.environment = launch::scrubbed_environment();
  taker.work_folder = place_;
  taker.job_name = "drill-preempt";
  taker.partition = "high";
  taker.output = "/dev/null";
  taker.nodes = k_nodes;
  taker.gpus_per_node = k_gpus;
  return scheduler_->submit(taker).map([](sched::JobId) {});
}

Result<void> Ground::lose(const std::string& node) const {
  return cluster::lose_node(cluster_, node);
}

Result<void> Ground::fill_disk() const {
  const std::string path = place_ + k_filler;
  const UniqueFd file(::open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
  if (!file.valid()) return fail_errno("cannot create " + path);
  std::string block(1 << 20, 'x');
  while (!block.empty())
    if (::write(file.get(), block.data(), block.size()) <= 0) block.resize(block.size() / 2);
  return {};
}

Result<void> Ground::free_disk() const {
  return remove_all(place_ + k_filler);
}

Result<std::string> Ground::finish(const run::RunDirectory& run) const {
  RunView story;
  Ending ending(scheduler_.get());
  DTS_TRY(wait_for("the end of the drilled run", k_finish_limit, [&]() -> Result<bool> {
    DTS_ASSIGN(story, read_story(run));
    if (story.summary.done) return true;
    if (!ending.seen(story.events)) return false;
    return fail(Errc::io, "the drilled run ended without being done");
  }));
  // The next drill needs the nodes, and a search for processes must not find the previous ones.
  DTS_TRY(wait_for("the end of the drilled job", k_finish_limit, [&]() -> Result<bool> {
    DTS_ASSIGN(const sched::JobInfo job, scheduler_->job(story.summary.job));
    return sched::is_terminal(job.state) && !job.completing;
  }));
  return story.summary.digest;
}

std::string Ground::why() const {
  return run_.path.empty() ? "" : run_ourselves({"why", run_.path}).value_or("");
}

std::string Ground::keep_run() {
  namespace fs = std::filesystem;
  const fs::path from(run_.path);
  const fs::path to = fs::path(place_) / k_kept / from.filename();
  std::error_code error;
  const auto all = fs::copy_options::recursive | fs::copy_options::copy_symlinks;
  fs::create_directories(to.parent_path(), error);
  if (!error) fs::copy(from, to, all, error);
  kept_ = !error;
  if (error) {
    log("cannot keep {}: {}", run_.path, error.message());
    return {};
  }
  fs::copy(cluster_ + "/log", to / "cluster-log", all, error);
  return to;
}

std::string Ground::clear(bool keep) {
  if (run_.path.empty()) return {};
  const auto story = read_story(run_);
  const sched::JobId job = story ? story->summary.job : sched::JobId();
  if (!job.empty())
    if (const auto ended = scheduler_->cancel(job); !ended) log("{}", ended.error().message);
  // The job's agent may still be writing its last record.
  (void)wait_for("the end of the drilled job", k_clear_limit, [&]() -> Result<bool> {
    const auto info = scheduler_->job(job);
    return !info || (sched::is_terminal(info->state) && !info->completing);
  });
  std::string kept = keep ? keep_run() : "";
  for (const auto& path : {run_.path, place_ + k_filler})
    if (const auto removed = remove_all(path); !removed) log("{}", removed.error().message);
  return kept;
}

}  // namespace dts::drill
