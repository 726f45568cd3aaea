// SPDX-License-Identifier: Apache-2.0
#include "core/launch/launcher.hpp"

#include <fmt/format.h>

namespace dts::launch {

LauncherCommand mpirun_command(const plan::Plan& plan,
                               bool local,
                               bool as_root,
                               const std::string& dtsubmit,
                               const std::vector<std::string>& rank_command) {
  LauncherCommand command;
  command.argv = {
      "mpirun", "--np", std::to_string(plan.world_size), "--bind-to", "none", "--oversubscribe"};
  if (local) {
    command.argv.insert(command.argv.end(),
                        {"--host", fmt::format("localhost:{}", plan.world_size)});
  } else {
    command.argv.insert(command.argv.end(),
                        {"--map-by", fmt::format("ppr:{}:node", plan.ntasks_per_node)});
    // mpirun splits this value at blanks, without quoting: such a path has to do without the
    // shield.
    if (dtsubmit.find(' ') == std::string::npos)
      command.argv.insert(command.argv.end(), {"--launch-agent", dtsubmit + " orted"});
  }
  command.argv.insert(command.argv.end(), rank_command.begin(), rank_command.end());
  command.environment = {
      // By default mpirun kills its ranks 1 s after it hears SIGTERM, whatever grace the job has.
      // The
      // agent ends ranks itself, in time.
      {"OMPI_MCA_odls_base_sigkill_timeout", "3000"},
  };
  if (as_root) {
    command.environment.emplace_back("OMPI_ALLOW_RUN_AS_ROOT", "1");
    command.environment.emplace_back("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1");
  }
  return command;
}

std::vector<std::string> sentinel_command(const std::string& dtsubmit) {
  return {"srun",
          "--overlap",
          "--nodes=1",
          "--ntasks=1",
          "--cpus-per-task=1",
          "--mem=0",
          "--gres=none",
          "--mpi=none",
          "--quiet",
          dtsubmit,
          "sentinel"};
}

}  // namespace dts::launch
