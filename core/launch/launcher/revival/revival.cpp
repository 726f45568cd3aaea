// SPDX-License-Identifier: Apache-2.0
#include "core/launch/launcher/revival/revival.hpp"

#include "core/base/files/files.hpp"
#include "core/base/os/environment.hpp"
#include "core/base/os/log.hpp"
#include "core/base/os/process.hpp"
#include "core/base/os/process_table.hpp"
#include "core/base/text/text.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

namespace dts::launch {

bool is_of_slurm(pid_t process) {
  if (process == 0) return true;
  const auto known = process_info(process);
  return !known || known->name.rfind("slurm", 0) == 0;
}

bool is_last_of_step(const Lookup& lookup) {
  const auto own = parse_number(lookup("SLURM_PROCID").value_or(""));
  const auto all = parse_number(lookup("SLURM_STEP_NUM_TASKS").value_or(""));
  return lookup("SLURM_STEP_ID") && own && all && *own + 1 == *all;
}

void Revival::begin(const std::string& run_directory, const std::string& attempt) {
  if (pid_ != 0 || !is_last_of_step(getenv_lookup) || !is_of_slurm(::getppid())) return;
  Command command;
  command.argv = {program_path(), "revive", "--run", run_directory, "--attempt", attempt};
  command.own_group = true;
  command.blocked_signals = {SIGTERM, SIGINT, SIGHUP};
  if (const auto started = start_process(command))
    pid_ = *started;
  else
    log("{}", started.error().message);
}

Revival::~Revival() {
  if (pid_ > 0) ::waitpid(pid_, nullptr, 0);  // fails if somebody else has waited for it
}

}  // namespace dts::launch
