// SPDX-License-Identifier: Apache-2.0
#include "core/launch/launcher.hpp"

#include "core/base/text.hpp"

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

Result<LauncherChoice> choose_launcher(const std::string& asked, const LauncherFacts& facts) {
  if (asked == "srun" && facts.local)
    return fail(Errc::invalid,
                "--launcher srun needs a Slurm allocation",
                "use `dtsubmit submit`, or --launcher mpirun on this machine");
  if (asked == "mpirun" && !facts.mpirun)
    return fail(Errc::not_found,
                "no mpirun on this node",
                "install Open MPI (openmpi-bin) on the nodes or load its module, or use --launcher "
                "srun");
  if (asked == "srun" && !facts.srun)
    return fail(Errc::not_found, "no srun on this node", "install slurm-client on the nodes");
  if (asked != "auto") return LauncherChoice{asked, "as asked"};
  if (facts.mpirun) return LauncherChoice{"mpirun", "auto: it is on this node"};
  if (facts.srun && !facts.local) return LauncherChoice{"srun", "auto: there is no mpirun here"};
  return fail(Errc::not_found,
              facts.local ? "no mpirun on this machine" : "neither mpirun nor srun on this node",
              "install Open MPI (openmpi-bin), or load its module");
}

std::string mpi_type_of(std::string_view list) {
  for (const std::string_view type : {"pmix", "pmi2"})
    for (const std::string& line : split(list, '\n'))
      if (trim(line) == type) return std::string(type);
  return "none";
}

LauncherCommand srun_command(const plan::Plan& plan,
                             const std::string& mpi,
                             const std::vector<std::string>& rank_command) {
  LauncherCommand command;
  command.argv = {"srun",
                  fmt::format("--nodes={}", plan.nodes),
                  fmt::format("--ntasks={}", plan.world_size),
                  fmt::format("--ntasks-per-node={}", plan.ntasks_per_node),
                  // srun does not take it from the job's --cpus-per-task since Slurm 22.05.
                  fmt::format("--cpus-per-task={}", plan.cpus_per_task),
                  "--distribution=block:block",
                  "--cpu-bind=none",
                  "--export=ALL",
                  "--input=none",
                  // A rank process only fails when its agent is gone: then none may go on for long.
                  "--kill-on-bad-exit=1",
                  "--wait=60",
                  "--mpi=" + mpi};
  command.argv.insert(command.argv.end(), rank_command.begin(), rank_command.end());
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
