// SPDX-License-Identifier: Apache-2.0
// dtsubmit doctor: whether a job survives what this site does to jobs, before it is submitted.
#include "cli/output/doctor.hpp"

#include "cli/commands/command.hpp"
#include "cli/commands/job_options.hpp"
#include "cli/commands/prepare.hpp"
#include "cli/output/terminal.hpp"
#include "core/base/text/text.hpp"
#include "core/launch/agent/log_links.hpp"
#include "core/launch/launcher/launcher.hpp"
#include "core/plugin/scheduler.hpp"
#include "core/spec/launchers.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <linux/magic.h>
#include <sys/resource.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <memory>
#include <utility>

namespace dts::cli {
namespace {

constexpr int k_refuted = 1;  // an answer is `no`

struct DoctorOptions {
  JobOptions job;
  bool json = false, site = false;
};

// The type of a file system that other machines cannot see; empty for any other.
std::string local_type_of(std::string folder) {
  struct statfs found {};

  while (::statfs(folder.c_str(), &found) != 0) {
    const std::size_t slash = folder.rfind('/');
    if (slash == std::string::npos || folder == "/") return {};
    folder.erase(std::max<std::size_t>(slash, 1));
  }
  for (const auto& [magic, name] : {std::pair<long, const char*>{TMPFS_MAGIC, "tmpfs"},
                                    {EXT4_SUPER_MAGIC, "ext4"},
                                    {XFS_SUPER_MAGIC, "xfs"},
                                    {BTRFS_SUPER_MAGIC, "btrfs"},
                                    {OVERLAYFS_SUPER_MAGIC, "overlayfs"},
                                    {RAMFS_MAGIC, "ramfs"}})
    if (static_cast<long>(found.f_type) == magic) return name;
  return {};
}

std::optional<std::uint64_t> memlock_limit() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_MEMLOCK, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY)
    return std::nullopt;
  return limit.rlim_cur;
}

doctor::Machine look_around(const std::string& runs) {
  doctor::Machine machine;
  const auto mpirun = launch::type_of(spec::Launcher::mpirun).ask();
  if (mpirun) machine.mpirun = trim(split(*mpirun, '\n').front());
  machine.srun_mpi = launch::type_of(spec::Launcher::srun).ask().value_or("");
  machine.runs = runs;
  machine.local_type = local_type_of(runs);
  machine.memlock = memlock_limit();
  return machine;
}

doctor::Job job_asked(const Prepared& prepared) {
  const spec::JobSpec& spec = prepared.spec;
  doctor::Job job;
  job.nodes = prepared.plan.nodes;
  job.gpus_per_node = prepared.plan.gpus_per_node;
  job.requeue = spec.requeue;
  job.is_bound = spec.bind.policy != spec::BindPolicy::none;
  job.launcher = spec::to_string(spec.launcher);
  job.time = spec.time;
  job.margin = prepared.plan.signal_margin;
  if (prepared.sweep)
    for (const sweep::Element& element : prepared.sweep->elements)
      job.elements = std::max<std::uint64_t>(job.elements, element.index + 1ULL);
  return job;
}

// The partitions that the job may run in: those of --partition, otherwise the site's default one.
std::vector<sched::PartitionInfo> of_job(const std::vector<sched::PartitionInfo>& all,
                                         const std::string& asked) {
  const auto names = split(asked, ',');
  std::vector<sched::PartitionInfo> chosen;
  for (const sched::PartitionInfo& one : all)
    if (asked.empty() ? one.is_default
                      : std::find(names.begin(), names.end(), one.name) != names.end())
      chosen.push_back(one);
  return chosen;
}

Result<std::vector<Diagnosis>> diagnose(const DoctorOptions& options,
                                        const std::vector<std::string>& command) {
  DTS_ASSIGN(Asked asked, make_spec(options.job, command));
  launch::make_absolute(asked.spec);
  spec::JobSpec& spec = asked.spec;
  // The answers do not depend on the program, which may be built later.
  if (spec.command.empty() && spec.steps.empty() && spec.roles.empty()) spec.command = {"true"};
  DTS_ASSIGN(const auto scheduler, plugin::load_scheduler());
  DTS_ASSIGN(const sched::ConfigInfo config, scheduler->config());
  DTS_ASSIGN(const auto partitions, scheduler->partitions());
  DTS_ASSIGN(const Prepared prepared, prepare(std::move(asked), {}, {}, Destination::scheduler));
  doctor::Facts facts;
  facts.site = config;
  facts.settings = scheduler->settings().value_or(sched::Settings{});
  facts.job = job_asked(prepared);
  facts.machine = look_around(prepared.runs);
  const auto looked_at = options.site ? partitions : of_job(partitions, prepared.spec.partition);
  if (looked_at.empty())
    return fail(Errc::not_found,
                prepared.spec.partition.empty()
                    ? "this site has no default partition"
                    : fmt::format("there is no partition `{}`", prepared.spec.partition),
                "name one with --partition; sinfo lists them");
  std::vector<Diagnosis> diagnoses;
  for (const sched::PartitionInfo& partition : looked_at) {
    facts.partition = partition;
    diagnoses.push_back({sched::to_text(scheduler->way()), facts, doctor::examine(facts)});
  }
  return diagnoses;
}

Result<int> act(const DoctorOptions& options, const std::vector<std::string>& command) {
  DTS_ASSIGN(const auto diagnoses, diagnose(options, command));
  std::string text;
  if (options.json)
    text = to_json(diagnoses);
  else if (options.site)
    text = site_text(diagnoses);
  else
    for (const Diagnosis& one : diagnoses)
      text += (text.empty() ? "" : "\n") + to_text(one, wants_colour(STDOUT_FILENO));
  std::fputs(text.c_str(), stdout);
  const bool refuted = std::any_of(diagnoses.begin(), diagnoses.end(), [](const Diagnosis& one) {
    return doctor::is_refuted(one.answers);
  });
  return refuted && !options.site ? k_refuted : 0;
}

}  // namespace

void add_doctor(CLI::App& app, Invocation& invocation) {
  const auto options = std::make_shared<DoctorOptions>();
  CLI::App* verb = app.add_subcommand(
      "doctor", "whether a job survives what this site does to jobs, before it is submitted");
  verb->footer(
      "Takes the options of `dtsubmit submit`, and a program after `--`.\n"
      "Exit codes: 0 no answer is `no`, 1 one is, 2 usage, 3 invalid job, 4 no scheduler.");
  verb->add_option("--job", options->job.job_file, "a job file, see dtsubmit-jobfile(5)")
      ->type_name("FILE");
  verb->add_flag("--site", options->site, "for administrators: a diff of the site's configuration");
  verb->add_flag("--json", options->json, "one JSON document on standard output");
  options->job.is_listed = false;  // `dtsubmit submit --help` lists them
  add_options(*verb, spec::Group::job, options->job, invocation);
  add_options(*verb, spec::Group::slurm, options->job, invocation);
  verb->callback([options, &invocation] {
    invocation.action = [options, &invocation] { return act(*options, invocation.command); };
  });
}

}  // namespace dts::cli
