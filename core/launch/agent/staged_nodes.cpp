// SPDX-License-Identifier: Apache-2.0
#include "core/launch/agent/staged_nodes.hpp"

#include "core/base/net/net.hpp"
#include "core/base/os/environment.hpp"
#include "core/base/os/log.hpp"
#include "core/base/os/process.hpp"
#include "core/base/text/hostlist.hpp"
#include "core/base/text/text.hpp"
#include "core/launch/launcher/own_steps.hpp"
#include "core/launch/launcher/ssh_launcher.hpp"
#include "core/launch/wire/node_name.hpp"
#include "core/run/directory/rank_logs.hpp"
#include "core/stage/stage_folder.hpp"

#include <fmt/format.h>

#include <future>

namespace dts::launch {
namespace {

constexpr std::chrono::seconds k_unstage_limit{30};

std::vector<std::string> words_of(const StagedNodes& staged) {
  return {staged.dtsubmit,
          "unstage",
          "--run",
          staged.job.run.path,
          "--attempt",
          std::to_string(staged.attempt)};
}

void log_end(const std::string& where, const Result<Output>& ended) {
  if (!ended)
    log("staged files on {}: {}", where, ended.error().message);
  else if (ended->exit_code != 0)
    log("staged files on {} are not all removed: {}", where, trim(ended->out + ended->err));
}

void unstage_by_step(const StagedNodes& staged) {
  Command command;
  command.argv =
      check_command(staged.nodes, GpuUse::none, words_of(staged), staged.job.plan.component);
  // srun reads the job's own --gpus-per-node from this variable and rejects it together with
  // --gres=none.
  command.env = environment_with({{"SLURM_GPUS_PER_NODE", ""}});
  log_end(join(staged.nodes, ","), run_process(std::move(command), k_unstage_limit));
}

void unstage_hosts(const StagedNodes& staged) {
  std::vector<std::pair<std::string, std::future<Result<Output>>>> answers;
  for (const HostSlots& host : staged.job.plan.hosts) {
    std::vector<std::string> words = words_of(staged);
    words.insert(words.end(), {"--node", host.host});
    Command command;
    command.argv = ssh_command(staged.job.plan.ssh, host.host, words);
    answers.emplace_back(host.host, std::async(std::launch::async, [command = std::move(command)] {
                           return run_process(command, k_unstage_limit);
                         }));
  }
  for (auto& [host, answer] : answers) log_end(host, answer.get());
}

}  // namespace

Result<void> unstage_this_node(const run::RunDirectory& run,
                               unsigned attempt,
                               const std::string& node) {
  const std::string name = node.empty() ? node_name(getenv_lookup, host_name()) : node;
  Result<void> all;
  for (unsigned number = attempt; number > 0; --number)
    if (auto removed = stage::remove_staged(run::stage_record(run, number, name)); !removed && all)
      all = std::move(removed);
  return all;
}

void unstage_nodes(const StagedNodes& staged) {
  if (!staged.local) {
    if (!staged.nodes.empty()) unstage_by_step(staged);
  } else if (!staged.job.plan.hosts.empty()) {
    unstage_hosts(staged);
  } else if (const auto removed = unstage_this_node(staged.job.run, staged.attempt, ""); !removed) {
    log("staged files: {}", removed.error().message);
  }
}

}  // namespace dts::launch
