// SPDX-License-Identifier: Apache-2.0
#include "core/launch/launcher/launcher.hpp"

#include "core/base/text/hostlist.hpp"
#include "core/base/text/text.hpp"

#include <fmt/format.h>

namespace dts::launch {

namespace {

constexpr unsigned k_prrte_release = 5;  // the first with prterun behind mpirun

void add_open_mpi_4(LauncherCommand& command,
                    const plan::Plan& plan,
                    const MpirunSettings& settings,
                    bool shielded) {
  command.argv.emplace_back("--oversubscribe");
  if (!settings.local)
    command.argv.insert(command.argv.end(),
                        {"--map-by", fmt::format("ppr:{}:node", plan.ntasks_per_node)});
  if (shielded)
    command.argv.insert(command.argv.end(), {"--launch-agent", settings.dtsubmit + " orted"});
  // By default mpirun kills its ranks 1 s after it hears SIGTERM, whatever grace the job has. The
  // agent ends ranks itself, in time.
  command.environment.emplace_back("OMPI_MCA_odls_base_sigkill_timeout", "3000");
}

void add_open_mpi_5(LauncherCommand& command,
                    const plan::Plan& plan,
                    const MpirunSettings& settings,
                    bool shielded) {
  const std::string map = settings.local ? "" : fmt::format("ppr:{}:node", plan.ntasks_per_node);
  command.argv.insert(command.argv.end(), {"--map-by", map + ":oversubscribe"});
  if (shielded)
    command.environment.emplace_back("PRTE_MCA_prte_launch_agent", settings.dtsubmit + " prted");
}

}  // namespace

LauncherCommand mpirun_command(const plan::Plan& plan,
                               const MpirunSettings& settings,
                               const std::vector<std::string>& rank_command) {
  LauncherCommand command;
  command.argv = {"mpirun", "--np", std::to_string(plan.world_size), "--bind-to", "none"};
  if (settings.local)
    command.argv.insert(command.argv.end(),
                        {"--host", fmt::format("localhost:{}", plan.world_size)});
  // mpirun splits the daemon's command at blanks, without quoting: such a path has to do without
  // the shield.
  if (!settings.nodes.empty()) {
    std::string hosts;
    for (const std::string& node : settings.nodes)
      hosts += fmt::format("{}{}:{}", hosts.empty() ? "" : ",", node, plan.ntasks_per_node);
    command.argv.insert(command.argv.end(), {"--host", hosts});
    // As srun_command() does, for the srun that starts mpirun's daemons.
    command.environment.emplace_back("SLURM_OVERLAP", "1");
  }
  const bool shielded = !settings.local && settings.dtsubmit.find(' ') == std::string::npos;
  const auto add = settings.release < k_prrte_release ? add_open_mpi_4 : add_open_mpi_5;
  add(command, plan, settings, shielded);
  command.argv.insert(command.argv.end(), rank_command.begin(), rank_command.end());
  if (settings.as_root) {
    command.environment.emplace_back("OMPI_ALLOW_RUN_AS_ROOT", "1");
    command.environment.emplace_back("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1");
  }
  return command;
}

std::optional<unsigned> open_mpi_release(std::string_view version) {
  constexpr std::string_view k_maker = "(Open MPI) ";
  const std::size_t maker = version.find(k_maker);
  if (maker == std::string_view::npos) return std::nullopt;
  const std::string_view number = version.substr(maker + k_maker.size());
  const auto release = parse_number(number.substr(0, number.find('.')));
  if (!release || *release > 1000) return std::nullopt;
  return static_cast<unsigned>(*release);
}

Result<LauncherChoice> choose_launcher(const std::string& asked, const LauncherFacts& facts) {
  if (asked == "srun" && facts.local)
    return fail(Errc::invalid,
                "--launcher srun needs a Slurm allocation",
                "use `dtsubmit submit`, or --launcher mpirun on this machine");
  const bool is_open_mpi = facts.mpirun && open_mpi_release(*facts.mpirun);
  const std::string no_mpirun =
      !facts.mpirun ? fmt::format("no mpirun on this {}", facts.local ? "machine" : "node")
                    : fmt::format("the mpirun here is not Open MPI's, it says `{}`", *facts.mpirun);
  if (asked == "mpirun" && !is_open_mpi)
    return fail(Errc::not_found,
                no_mpirun,
                facts.local ? "install Open MPI (openmpi-bin), or load its module"
                            : "install Open MPI (openmpi-bin) on the nodes or load its module, or "
                              "use --launcher srun");
  if (asked == "srun" && !facts.srun)
    return fail(Errc::not_found, "no srun on this node", "install slurm-client on the nodes");
  if (asked != "auto") return LauncherChoice{asked, "as asked"};
  if (is_open_mpi) return LauncherChoice{"mpirun", "auto: it is on this node"};
  if (facts.srun && !facts.local) return LauncherChoice{"srun", "auto: " + no_mpirun};
  return fail(Errc::not_found,
              facts.local ? no_mpirun : no_mpirun + ", and no srun",
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
                             const std::vector<std::string>& rank_command,
                             const std::vector<std::string>& nodes) {
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
  // A rank whose control group has only its own GPU cannot open its peers' memory (CUDA IPC), and
  // which GPUs are whose is our plan's. SLURM_GPU_BIND of the job would else count.
  if (plan.gpus_per_node > 0) command.argv.emplace_back("--gpu-bind=none");
  // A step that a lost node belonged to holds its cores on the others until the node is called
  // down.
  if (!nodes.empty())
    command.argv.insert(command.argv.end(), {"--nodelist=" + fold_hostlist(nodes), "--overlap"});
  command.argv.insert(command.argv.end(), rank_command.begin(), rank_command.end());
  return command;
}

std::vector<std::string> check_command(const std::vector<std::string>& nodes,
                                       bool with_gpus,
                                       const std::vector<std::string>& measure) {
  std::vector<std::string> argv{"srun",
                                "--overlap",
                                "--nodelist=" + fold_hostlist(nodes),
                                fmt::format("--nodes={}", nodes.size()),
                                fmt::format("--ntasks={}", nodes.size()),
                                "--ntasks-per-node=1",
                                "--cpus-per-task=1",
                                "--mem=0",
                                "--mpi=none",
                                "--input=none",
                                "--kill-on-bad-exit=0",
                                "--quiet"};
  if (!with_gpus) argv.emplace_back("--gres=none");
  argv.insert(argv.end(), measure.begin(), measure.end());
  return argv;
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
