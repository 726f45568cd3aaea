// SPDX-License-Identifier: Apache-2.0
// dtsubmit doctor: predicts whether a job survives what this site does to jobs.
#include "cli/output/doctor.hpp"

#include "cli/commands/command.hpp"
#include "cli/commands/doctor_machine.hpp"
#include "cli/commands/doctor_probe.hpp"
#include "cli/commands/job_options.hpp"
#include "cli/commands/prepare.hpp"
#include "cli/output/terminal.hpp"
#include "core/base/text/text.hpp"
#include "core/base/text/units.hpp"
#include "core/launch/agent/log_links.hpp"
#include "core/plan/program/inner_program.hpp"
#include "core/plugin/scheduler.hpp"
#include "core/spec/launchers.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <memory>

namespace dts::cli {
namespace {

constexpr int k_refuted = 1;  // at least one answer is `no`

struct DoctorOptions {
  JobOptions job;
  bool json = false, site = false, probes = false;
  std::string probe_wait = "10";
};

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
  if (const auto qos = spec.slurm.find("qos"); qos != spec.slurm.end()) job.qos = qos->second;
  job.start_timeout = spec.start_timeout;
  constexpr std::array<std::string_view, 4> k_by_ssh{"deepspeed", "pdsh", "clush", "ssh"};
  const std::string_view program = spec.command.empty() ? "" : plan::file_name_of(spec.command[0]);
  job.starts_by_ssh = std::find(k_by_ssh.begin(), k_by_ssh.end(), program) != k_by_ssh.end();
  if (prepared.sweep)
    for (const sweep::Element& element : prepared.sweep->elements)
      job.elements = std::max<std::uint64_t>(job.elements, element.index + 1ULL);
  return job;
}

// Asks the accounting, but only if it affects an answer.
void ask_for_qos(sched::Scheduler& scheduler, const spec::JobSpec& spec, doctor::Facts& facts) {
  const bool decides = setting(facts, "PreemptType") == "preempt/qos" ||
                       lists(facts, "AccountingStorageEnforce", "limits");
  if (!decides) return;
  const auto account = spec.slurm.find("account");
  auto qos = scheduler.qos(account == spec.slurm.end() ? "" : account->second);
  if (qos)
    facts.qos = *std::move(qos);
  else
    facts.qos_unknown = qos.error().message;
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

Result<std::chrono::seconds> probe_patience(const DoctorOptions& options) {
  constexpr std::chrono::seconds k_longest = std::chrono::hours(24 * 365);
  auto patience = parse_time_limit(options.probe_wait);
  if (!patience) return tl::unexpected<Error>(std::move(patience).error().during("--probe-wait"));
  return std::min(*patience, k_longest);
}

Result<std::vector<Diagnosis>> diagnose(const DoctorOptions& options,
                                        const std::vector<std::string>& command) {
  if (options.probes && options.site)
    return fail(Errc::usage, "--submit-probe cannot go with --site", "omit one of them");
  DTS_ASSIGN(Asked asked, make_spec(options.job, command));
  launch::make_absolute(asked.spec);
  spec::JobSpec& spec = asked.spec;
  // The answers do not depend on the program, which may be built later.
  if (spec.command.empty() && spec.steps.empty() && spec.roles.empty()) spec.command = {"true"};
  DTS_ASSIGN(const auto scheduler, plugin::load_scheduler());
  DTS_ASSIGN(const sched::ConfigInfo config, scheduler->config());
  DTS_ASSIGN(const auto partitions, scheduler->partitions());
  const Asked same = asked;
  DTS_ASSIGN(const Prepared prepared, prepare(std::move(asked), {}, {}, Destination::scheduler));
  doctor::Facts facts;
  facts.site = config;
  facts.settings = scheduler->settings().value_or(sched::Settings{});
  facts.job = job_asked(prepared);
  facts.machine = inspect_machine(prepared.runs);
  ask_for_qos(*scheduler, prepared.spec, facts);
  const auto looked_at = options.site ? partitions : of_job(partitions, prepared.spec.partition);
  if (looked_at.empty())
    return fail(Errc::not_found,
                prepared.spec.partition.empty()
                    ? "this site has no default partition"
                    : fmt::format("there is no partition `{}`", prepared.spec.partition),
                "name one with --partition; sinfo lists them");
  std::optional<doctor::Probed> probed;
  if (options.probes) {
    DTS_ASSIGN(const std::chrono::seconds patience, probe_patience(options));
    DTS_ASSIGN(probed, probe_by_job(*scheduler, same, patience));
  }
  std::vector<Diagnosis> diagnoses;
  for (const sched::PartitionInfo& partition : looked_at) {
    facts.partition = partition;
    const bool ran_there = probed && (probed->partition == partition.name || looked_at.size() == 1);
    facts.probed = ran_there ? probed : std::nullopt;
    diagnoses.push_back({sched::to_text(scheduler->access()), facts, doctor::examine(facts)});
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
      text += (text.empty() ? "" : "\n") +
              to_text(one, terminal_columns(), wants_colour(STDOUT_FILENO));
  std::fputs(text.c_str(), stdout);
  const bool refuted = std::any_of(diagnoses.begin(), diagnoses.end(), [](const Diagnosis& one) {
    return doctor::is_refuted(one.answers);
  });
  return refuted && !options.site ? k_refuted : 0;
}

}  // namespace

void add_doctor(CLI::App& app, Invocation& invocation) {
  const auto options = std::make_shared<DoctorOptions>();
  CLI::App* verb =
      app.add_subcommand("doctor", "check whether a job survives what this site does to jobs");
  verb->footer(
      "Takes the options of `dtsubmit submit`, and a program after `--`.\n"
      "Exit codes: 0 no answer is `no`, 1 an answer is `no`, 2 usage, 3 invalid job,\n"
      "4 no scheduler.");
  verb->add_option("--job", options->job.job_file, "a job file, see dtsubmit-jobfile(5)")
      ->type_name("FILE");
  verb->add_flag("--site", options->site, "for administrators: a diff of the site's configuration");
  verb->add_flag(
      "--submit-probe", options->probes, "also submit a job of half a minute that tests the nodes");
  verb->add_option("--probe-wait", options->probe_wait, "how long that job may take to end [10m]")
      ->type_name("TIME");
  verb->add_flag("--json", options->json, "one JSON document on standard output");
  options->job.is_listed = false;  // `dtsubmit submit --help` lists them
  add_options(*verb, spec::Group::job, options->job, invocation);
  add_options(*verb, spec::Group::slurm, options->job, invocation);
  verb->callback([options, &invocation] {
    invocation.action = [options, &invocation] { return act(*options, invocation.command); };
  });
}

}  // namespace dts::cli
