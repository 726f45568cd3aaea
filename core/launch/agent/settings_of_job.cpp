// SPDX-License-Identifier: Apache-2.0
#include "core/launch/agent/settings_of_job.hpp"

#include "core/base/hash.hpp"
#include "core/base/net/ephemeral_ports.hpp"
#include "core/base/os/environment.hpp"
#include "core/base/os/log.hpp"
#include "core/base/text/duration.hpp"
#include "core/base/text/text.hpp"
#include "core/launch/agent/part_variables.hpp"
#include "core/launch/job/allocation.hpp"
#include "core/launch/job/node_scripts.hpp"
#include "core/launch/program/gpu_view.hpp"
#include "core/plan/program/resume.hpp"
#include "core/run/summary/lost_gpu.hpp"

#include <string>
#include <utility>
#include <vector>

namespace dts::launch {
namespace {

constexpr unsigned k_port_candidates = 64;
constexpr std::chrono::hours k_longest_quiet{24 * 365};

// One hour, unless DTSUBMIT_QUIET_LIMIT says otherwise.
std::chrono::seconds quiet_limit() {
  const auto asked = parse_duration(getenv_lookup("DTSUBMIT_QUIET_LIMIT").value_or(""));
  if (!asked || asked->count() < 1 || *asked > k_longest_quiet)
    return AttemptSettings().quiet_limit;
  return std::chrono::ceil<std::chrono::seconds>(*asked);
}

// The variables that ComposedRun passes to the agent of a part. Other agents have none, see
// is_leaky_variable().
Variables inherited_variables() {
  Variables variables;
  for (const std::string& entry : environment_entries()) {
    const std::string name(variable_name(entry));
    const bool is_of_part = name.starts_with("DTSUBMIT_STEP") ||
                            name.starts_with("DTSUBMIT_ROLE") || name == "DTSUBMIT_RUN_BEGAN" ||
                            name == "DTSUBMIT_JOB_DIR";
    if (is_of_part) variables.emplace_back(name, getenv_lookup(name.c_str()).value_or(""));
  }
  return variables;
}

// The newest checkpoint as the program finds it; empty: none.
std::string resumed_from(const Assignment& job) {
  const std::string& pattern = job.spec.checkpoints;
  if (!pattern.empty()) return run::newest_match(pattern, job.run, 1);
  if (const std::string step = run::newest_checkpoint(job.run); !step.empty())
    return job.run.checkpoints() + "/" + step;
  return run::newest_match(glob_escaped(job.run.checkpoints()) + "/*", job.run, 1);
}

void resume(const Assignment& job, AttemptSettings& settings) {
  const std::string from = resumed_from(job);
  if (from.empty()) {
    if (settings.number > 1 && !job.spec.checkpoints.empty())
      log("nothing that was written since the run began matches --checkpoints {}: the program "
          "starts over",
          job.spec.checkpoints);
    return;
  }
  settings.environment.emplace_back("DTSUBMIT_RESUME_FROM", from);
  const auto words = plan::resume_arguments(job.spec.resume, from);
  if (words.empty()) return;
  settings.plan.command.insert(settings.plan.command.end(), words.begin(), words.end());
  log("the program continues from {}: {}", from, join(words, " "));
}

bool has_missed_gpus(const run::RunDirectory& run) {
  const auto events = run::read_ledger(run.ledger());
  return events && run::has_missed_gpus(*events);
}

// Resolves "auto".
void choose_gpu_view(const Assignment& job, plan::Plan& plan) {
  if (plan.gpu_view != "auto") return;
  const std::string script = script_that_numbers_gpus(plan);
  const bool shows_node = !script.empty() || (may_number_gpus(plan) && has_missed_gpus(job.run));
  plan.gpu_view = shows_node ? "node" : "rank";
  if (shows_node)
    log("each rank sees the GPUs of its node, its own as number LOCAL_RANK, by which {} takes it "
        "(--gpu-view)",
        script.empty() ? "the program" : script);
}

}  // namespace

std::string newest_checkpoint(const Assignment& job) {
  const std::string own = run::newest_match(job.spec.checkpoints, job.run, 1);
  return own.empty() ? run::newest_checkpoint(job.run) : own;
}

bool has_saved(const Assignment& job, unsigned attempt) {
  return run::saves_otherwise(job.run, attempt) ||
         !run::newest_match(job.spec.checkpoints, job.run, attempt).empty();
}

bool has_saved_after(const Assignment& job, std::filesystem::file_time_type time) {
  const run::Matches own = run::matches_of(job.spec.checkpoints, time);
  return !own.has_incomplete && (!own.newest.empty() || run::has_saved_after(job.run, time));
}

bool may_show_more_gpus(const Assignment& job, const plan::Plan& used) {
  return job.plan.gpu_view == "auto" && used.gpu_view == "rank" && may_number_gpus(job.plan);
}

AttemptSettings attempt_settings(const Assignment& job, unsigned number) {
  AttemptSettings settings;
  settings.spec = job.spec;
  settings.plan = job.plan;
  choose_gpu_view(job, settings.plan);
  settings.run = job.run;
  settings.number = number;
  settings.token = random_hex(16);
  const auto [low, high] = ephemeral_ports();
  settings.ports = plan::master_port_candidates(job.run.path, number, low, high, k_port_candidates);
  const bool may_begin_anew = job.policy.rule(run::Cause::damaged).action != run::Action::stop;
  settings.environment = {{"DTSUBMIT_RUN_DIR", job.run.path},
                          {"DTSUBMIT_ATTEMPT", std::to_string(number)},
                          {"DTSUBMIT_CHECKPOINT_DIR", job.run.checkpoints()},
                          {"PYTHONUNBUFFERED", "1"},
                          {"DTSUBMIT_BEGIN_ANEW", may_begin_anew ? "1" : "0"}};
  settings.environment.push_back(began_variable(job.run));
  if (!job.spec.command.empty()) resume(job, settings);
  for (auto& variable : inherited_variables()) {
    // The time is that of the whole run, not of a part.
    std::erase_if(settings.environment,
                  [&](const auto& one) { return one.first == variable.first; });
    settings.environment.push_back(std::move(variable));
  }
  if (job.membership)
    for (auto& variable : sweep::variables_of(*job.membership))
      settings.environment.push_back(std::move(variable));
  settings.in_slurm = !job.allocation.job.empty();
  // submitit's JobEnvironment().paths: the folder of the job's files.
  if (settings.in_slurm) settings.environment.emplace_back("SUBMITIT_FOLDER", job.run.path);
  settings.quiet_limit = quiet_limit();
  NodeScripts scripts = node_scripts(job.spec);
  settings.set_up = std::move(scripts.set_up);
  settings.tear_down = std::move(scripts.tear_down);
  settings.agent_node = job.allocation.node;
  settings.nodes = job.allocation.nodes;
  settings.wall = std::chrono::system_clock::now();
  return settings;
}

}  // namespace dts::launch
