// SPDX-License-Identifier: Apache-2.0
// Whether a job has exclusive use of what it requested: slurm.conf(5), cgroup.conf(5).
#include "core/base/text/text.hpp"
#include "core/doctor/questions.hpp"

#include <fmt/format.h>

namespace dts::doctor {
namespace {

bool is_yes(const Facts& facts, const char* name) {
  const auto value = in_lower_case(setting(facts, name));
  return value == "yes" || value == "true";
}

bool constrains(const Facts& facts, const char* name) {
  return lists(facts, "TaskPlugin", "task/cgroup") && is_yes(facts, name);
}

Wish task_plugin(const Facts& facts) {
  return {"slurm.conf",
          "TaskPlugin",
          std::string(setting(facts, "TaskPlugin")),
          "task/affinity,task/cgroup",
          "without it, nothing confines a job to its allocation"};
}

// The settings that are needed for `name` of cgroup.conf to take effect.
std::vector<Wish> wishes_for(const Facts& facts, const char* name, const char* reason) {
  std::vector<Wish> wishes;
  if (!lists(facts, "TaskPlugin", "task/cgroup")) wishes.push_back(task_plugin(facts));
  if (!is_yes(facts, name))
    wishes.push_back({"cgroup.conf", name, std::string(setting(facts, name)), "yes", reason});
  return wishes;
}

}  // namespace

Verdict judge_cores(const Facts& facts) {
  if (!knows_settings(facts)) return not_known();
  const std::string ours = facts.job.is_bound ? "dtsubmit binds every rank to its own cores"
                                              : "ranks are not bound (--bind none)";
  if (constrains(facts, "ConstrainCores"))
    return {Answer::yes,
            "Slurm confines every job to its cores (task/cgroup, ConstrainCores=yes), and " + ours};
  const auto wishes =
      wishes_for(facts, "ConstrainCores", "otherwise a job's threads run on other jobs' cores too");
  if (!facts.job.is_bound && !lists(facts, "TaskPlugin", "task/affinity"))
    return {
        Answer::no,
        fmt::format(
            "{}, and Slurm confines no job (TaskPlugin={})", ours, setting(facts, "TaskPlugin")),
        "omit --bind none",
        wishes};
  return {Answer::partly,
          fmt::format("{}; but nothing keeps the processes of other jobs off them (TaskPlugin={}, "
                      "ConstrainCores={})",
                      ours,
                      setting(facts, "TaskPlugin"),
                      is_yes(facts, "ConstrainCores") ? "yes" : "no"),
          "--exclusive requests whole nodes",
          wishes};
}

Verdict judge_memory(const Facts& facts) {
  if (!knows_settings(facts)) return not_known();
  const std::string parameters = in_lower_case(setting(facts, "SelectTypeParameters"));
  const bool is_counted = parameters.find("memory") != std::string::npos;
  const bool is_held = constrains(facts, "ConstrainRAMSpace") ||
                       lists(facts, "JobAcctGatherParams", "OverMemoryKill");
  if (is_counted && is_held)
    return {Answer::yes, "Slurm allocates memory, and kills a job that exceeds its share"};
  std::vector<Wish> wishes;
  if (!is_counted)
    wishes.push_back({"slurm.conf",
                      "SelectTypeParameters",
                      std::string(setting(facts, "SelectTypeParameters")),
                      setting(facts, "SelectTypeParameters").empty()
                          ? "CR_Core_Memory"
                          : fmt::format("{}_Memory", setting(facts, "SelectTypeParameters")),
                      "otherwise jobs are placed on nodes whose memory is in use"});
  if (!is_held)
    for (Wish& wish : wishes_for(facts,
                                 "ConstrainRAMSpace",
                                 "otherwise a memory leak in one job ends every job on the node"))
      wishes.push_back(std::move(wish));
  return {Answer::partly,
          fmt::format("{}; {}",
                      is_counted ? "Slurm allocates memory"
                                 : "Slurm does not count memory (SelectTypeParameters)",
                      is_held ? "a job that exceeds its share is killed"
                              : "nothing stops a job that takes more than its share"),
          "--exclusive requests whole nodes",
          std::move(wishes)};
}

Verdict judge_gpus(const Facts& facts) {
  if (facts.job.gpus_per_node == 0) return {Answer::yes, "the job requests no GPUs"};
  if (!knows_settings(facts)) return not_known();
  if (!lists(facts, "GresTypes", "gpu"))
    return {Answer::no,
            fmt::format("the site does not count GPUs (GresTypes={}): --gpus-per-node is refused",
                        setting(facts, "GresTypes")),
            "",
            {{"slurm.conf",
              "GresTypes",
              std::string(setting(facts, "GresTypes")),
              "gpu",
              "with Gres=gpu:N on the nodes and gres.conf, Slurm allocates GPUs"}}};
  if (constrains(facts, "ConstrainDevices"))
    return {Answer::yes,
            "Slurm confines every job to its GPUs (ConstrainDevices=yes), and dtsubmit gives each "
            "rank its own"};
  return {Answer::partly,
          "dtsubmit gives each rank its own GPU, but nothing keeps other jobs' programs off it "
          "(ConstrainDevices=no)",
          "--exclusive requests whole nodes",
          wishes_for(facts, "ConstrainDevices", "otherwise a program sees GPUs of other jobs")};
}

Verdict judge_leftovers(const Facts& facts) {
  if (!knows_settings(facts)) return not_known();
  const auto proctrack = setting(facts, "ProctrackType");
  if (facts.job.starts_by_ssh && !lists(facts, "PrologFlags", "Contain"))
    return {Answer::partly,
            "its program starts others through ssh, and sshd does not add them to the job: they "
            "outlive it",
            "omit that launcher: dtsubmit starts ranks on all nodes itself",
            {{"slurm.conf",
              "PrologFlags",
              std::string(setting(facts, "PrologFlags")),
              "Contain",
              "pam_slurm_adopt needs it to add processes that ssh starts to the user's job"}}};
  if (proctrack == "proctrack/cgroup")
    return {Answer::yes,
            facts.job.starts_by_ssh
                ? "Slurm tracks every process of a job by its control group, including those from "
                  "ssh if nodes have pam_slurm_adopt (PrologFlags=Contain is set for it)"
                : "Slurm tracks every process of a job by its control group"};
  const Wish wish{"slurm.conf",
                  "ProctrackType",
                  std::string(proctrack),
                  "proctrack/cgroup",
                  "the only plug-in that tracks all processes of a job"};
  if (proctrack == "proctrack/pgid")
    return {
        Answer::partly,
        "Slurm tracks a job by process groups only (proctrack/pgid), and ranks' programs have "
        "their own groups: dtsubmit ends them, Slurm cannot; a process that left its group remains",
        "",
        {wish}};
  return {Answer::partly,
          fmt::format("Slurm tracks processes by their parents ({}): one whose parent has ended "
                      "escapes; dtsubmit ends the groups of its programs",
                      proctrack),
          "",
          {wish}};
}

}  // namespace dts::doctor
