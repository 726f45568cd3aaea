// SPDX-License-Identifier: Apache-2.0
#include "core/launch/agent/runner/launcher_process.hpp"

#include "core/base/os/environment.hpp"
#include "core/base/os/log.hpp"
#include "core/base/os/own_children.hpp"
#include "core/base/os/process.hpp"
#include "core/base/os/program_file.hpp"
#include "core/launch/launcher/mpirun.hpp"
#include "core/launch/launcher/own_steps.hpp"
#include "core/launch/program/program.hpp"
#include "core/plan/layout/launcher_words.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

namespace dts::launch {
namespace {

constexpr unsigned k_most_sentinels = 3;  // one after another

// Kills a process that leads its own group; sets it to 0.
void kill_and_wait(pid_t& process) {
  if (process <= 0) return;
  ::kill(-process, SIGKILL);
  ::waitpid(process, nullptr, 0);
  process = 0;
}

}  // namespace

LauncherProcess::LauncherProcess(const RunnerSettings& settings)
    : settings_(settings), inherited_children_(own_children()) {}

LauncherProcess::~LauncherProcess() {
  if (launcher_ > 0) ::kill(-launcher_, SIGKILL);
  if (sentinel_ > 0) ::kill(-sentinel_, SIGKILL);
}

Result<LauncherCommand> LauncherProcess::command_of_launcher() const {
  LaunchRequest request;
  request.plan = settings_.attempt.plan;
  request.rank_command = rank_command();
  request.nodes = named_nodes();
  request.all_nodes = settings_.attempt.nodes;
  request.dtsubmit = settings_.dtsubmit;
  request.run_directory = settings_.attempt.run.path;
  request.attempt = settings_.attempt.number;
  request.local = settings_.local;
  request.as_root = ::geteuid() == 0;
  request.has_srun = find_program("srun").has_value();
  request.has_ssh =
      find_program("ssh") || find_program("rsh") || is_told_how_to_reach_nodes(getenv_lookup);
  if (settings_.attempt.spec.container.image.empty())
    request.program_mpi = mpi_of(request.plan.command);
  const auto ask = [](spec::Launcher launcher) { return type_of(launcher).ask(); };
  DTS_ASSIGN(const LauncherChoice choice, choose_launcher(request, ask));
  DTS_ASSIGN(LauncherCommand command,
             type_of(choice.launcher).command(request, choice.answer, getenv_lookup));
  log("launcher {}: {}", command.description, choice.why);
  if (choice.launcher == spec::Launcher::mpirun && !request.local && request.plan.nodes > 1 &&
      !request.has_srun)
    log("no srun on the job's PATH: mpirun reaches the other nodes by ssh, or as the site says");
  return command;
}

std::vector<std::string> LauncherProcess::rank_command() const {
  std::vector<std::string> words{settings_.dtsubmit,
                                 "rank",
                                 "--run",
                                 settings_.attempt.run.path,
                                 "--attempt",
                                 std::to_string(settings_.attempt.number),
                                 "--"};
  const auto& program = settings_.attempt.plan.command;
  if (plan::fits_launchers(program))
    words.insert(words.end(), program.begin(), program.end());
  else
    words.push_back(program.front());  // the rest is in each rank's Go
  return words;
}

// The nodes to which the launcher must restrict itself; empty: it uses all nodes of the job.
std::vector<std::string> LauncherProcess::named_nodes() const {
  if (!settings_.names_nodes) return {};
  return settings_.attempt.nodes;
}

Result<void> LauncherProcess::start() {
  DTS_ASSIGN(LauncherCommand launcher, command_of_launcher());
  needs_sentinel_ = launcher.needs_sentinel;
  if (!getenv_lookup(k_launcher_hwloc.first)) launcher.environment.emplace_back(k_launcher_hwloc);
  for (auto& variable : step_environment()) launcher.environment.push_back(std::move(variable));
  Command command;
  command.argv = launcher.argv;
  command.env = environment_with(launcher.environment);
  // Slurm sends SIGTERM to every process it sees, and mpirun reacts to it by tearing down the
  // ranks' MPI world while they save.
  command.blocked_signals = {SIGTERM};
  command.stdout_fd = STDERR_FILENO;  // its few lines belong in the agent's log
  command.own_group = true;
  // In a job, the guard outlives the agent and lets the ranks save before it ends what is left.
  if (settings_.local) command.parent_death_signal = SIGKILL;
  DTS_ASSIGN(launcher_, start_process(command));
  return {};
}

void LauncherProcess::start_sentinel() {
  if (sentinels_ >= k_most_sentinels) return;
  Command command;
  command.argv = sentinel_command(settings_.dtsubmit, settings_.attempt.plan.component);
  auto environment = step_environment();
  // srun reads the job's own --gpus-per-node from this variable and rejects it together with
  // --gres=none.
  environment.emplace_back("SLURM_GPUS_PER_NODE", "");
  command.env = environment_with(environment);
  command.own_group = true;
  const auto started = start_process(command);
  ++sentinels_;
  if (started)
    sentinel_ = *started;
  else
    log("no sentinel step: {}; a preemption is noticed by polling only", started.error().message);
}

// By these variables our processes in other steps find the control channel.
LauncherProcess::Variables LauncherProcess::step_environment() const {
  return {{"DTSUBMIT_RUN_DIR", settings_.attempt.run.path},
          {"DTSUBMIT_ATTEMPT", std::to_string(settings_.attempt.number)}};
}

// Only waits for known children: JobWatch's thread reaps its own.
LauncherProcess::Ended LauncherProcess::reap() {
  Ended ended;
  int status = 0;
  if (launcher_ > 0 && ::waitpid(launcher_, &status, WNOHANG) == launcher_) {
    launcher_ = 0;
    ended.launcher = exit_code_of_wait_status(status);
  }
  if (sentinel_ > 0 && ::waitpid(sentinel_, &status, WNOHANG) == sentinel_) {
    sentinel_ = 0;
    ended.sentinel = true;
  }
  for (const pid_t orphan : own_children())
    if (orphan != launcher_ && orphan != sentinel_) ::waitpid(orphan, nullptr, WNOHANG);
  return ended;
}

void LauncherProcess::kill() {
  kill_and_wait(launcher_);
  kill_and_wait(sentinel_);
}

bool LauncherProcess::signal_orphans(int signal) const {
  return signal_children(signal, inherited_children_);
}

void LauncherProcess::kill_orphans() const {
  kill_children(inherited_children_);
}

}  // namespace dts::launch
