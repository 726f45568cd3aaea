// SPDX-License-Identifier: Apache-2.0
#include "core/launch/launcher/mpirun.hpp"

#include "core/base/os/process.hpp"
#include "core/base/os/program_file.hpp"
#include "core/base/text/hostlist.hpp"
#include "core/base/text/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <iterator>

namespace dts::launch {
namespace {

constexpr unsigned k_prrte_release = 5;  // the first release whose mpirun calls prterun

// Open MPI cuts names of nodes at their first dot, and Slurm does not know what is left.
bool are_full_names(const std::vector<std::string>& nodes) {
  return std::any_of(nodes.begin(), nodes.end(), [](const std::string& node) {
    return node.find('.') != std::string::npos;
  });
}

void add_open_mpi_4(LauncherCommand& command, const LaunchRequest& request, bool shielded) {
  command.argv.emplace_back("--oversubscribe");
  if (!request.local)
    command.argv.insert(command.argv.end(),
                        {"--map-by", fmt::format("ppr:{}:node", request.plan.ntasks_per_node)});
  if (shielded)
    command.argv.insert(command.argv.end(), {"--launch-agent", request.dtsubmit + " orted"});
  // By default, mpirun kills its ranks 1 s after SIGTERM, regardless of the job's grace time. The
  // agent ends ranks itself, in time.
  command.environment.emplace_back("OMPI_MCA_odls_base_sigkill_timeout", "3000");
  if (!request.local && are_full_names(request.all_nodes))
    command.environment.emplace_back("OMPI_MCA_orte_keep_fqdn_hostnames", "1");
}

void add_open_mpi_5(LauncherCommand& command, const LaunchRequest& request, bool shielded) {
  const std::string map =
      request.local ? "" : fmt::format("ppr:{}:node", request.plan.ntasks_per_node);
  command.argv.insert(command.argv.end(), {"--map-by", map + ":oversubscribe"});
  if (shielded)
    command.environment.emplace_back("PRTE_MCA_prte_launch_agent", request.dtsubmit + " prted");
}

}  // namespace

LauncherCommand mpirun_command(const LaunchRequest& request, unsigned release) {
  const plan::Plan& plan = request.plan;
  LauncherCommand command;
  command.argv = {"mpirun", "--np", std::to_string(plan.world_size), "--bind-to", "none"};
  if (request.local) {
    command.argv.insert(command.argv.end(),
                        {"--host", fmt::format("localhost:{}", plan.world_size)});
  } else if (!request.nodes.empty()) {
    std::string hosts;
    for (const std::string& node : request.nodes)
      hosts += fmt::format("{}{}:{}", hosts.empty() ? "" : ",", node, plan.ntasks_per_node);
    command.argv.insert(command.argv.end(), {"--host", hosts});
  }
  // Read by the srun that starts mpirun's daemons.
  if (!request.local && request.may_meet_steps())
    command.environment.emplace_back("SLURM_OVERLAP", "1");
  // mpirun splits the daemon's command at blanks and has no quoting, so if our path contains a
  // blank, the daemon runs without the shield.
  const bool shielded = !request.local && request.dtsubmit.find(' ') == std::string::npos;
  const auto add = release < k_prrte_release ? add_open_mpi_4 : add_open_mpi_5;
  add(command, request, shielded);
  command.argv.insert(command.argv.end(), request.rank_command.begin(), request.rank_command.end());
  if (request.as_root) {
    command.environment.emplace_back("OMPI_ALLOW_RUN_AS_ROOT", "1");
    command.environment.emplace_back("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1");
  }
  // Ranks on the batch script's own node are not in a step, and a preemption signals only steps.
  command.needs_sentinel = !request.local && plan.nodes == 1;
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

bool is_told_how_to_reach_nodes(const Lookup& environment) {
  constexpr const char* k_names[] = {"OMPI_MCA_plm",
                                     "OMPI_MCA_plm_rsh_agent",
                                     "PRTE_MCA_plm",
                                     "PRTE_MCA_plm_rsh_agent",
                                     "PRTE_MCA_plm_ssh_agent"};
  return std::any_of(std::begin(k_names), std::end(k_names), [&](const char* name) {
    return !environment(name).value_or("").empty();
  });
}

namespace {

// The first line of `mpirun --version`.
Result<std::string> ask_mpirun() {
  const auto mpirun = find_program("mpirun");
  if (!mpirun) return fail(Errc::not_found, "no mpirun");
  // Up to release 4, mpirun is a link to orterun, and we need not start a process to ask.
  std::error_code failed;
  if (std::filesystem::canonical(*mpirun, failed).filename() == "orterun")
    return "mpirun (Open MPI) 4";
  Command ask;
  ask.argv = {"mpirun", "--version"};
  DTS_ASSIGN(const Output version, run_process(std::move(ask), k_question_limit));
  return version.out.substr(0, version.out.find('\n'));
}

Result<void> mpirun_available(const Result<std::string>& answer, bool local) {
  if (answer && open_mpi_release(*answer)) return {};
  return fail(
      Errc::not_found,
      answer ? fmt::format("the mpirun here is not Open MPI's, it says `{}`", *answer)
             : fmt::format("no mpirun on this {}", local ? "machine" : "node"),
      local ? "install Open MPI (openmpi-bin), or load its module"
            : "install Open MPI (openmpi-bin) on the nodes or load its module, or use --launcher "
              "srun");
}

// The option that the srun which starts mpirun's daemons needs: the component of a heterogeneous
// job, or the nodes of a part that is not on mpirun's own node. mpirun names nodes only if it needs
// fewer than it was given, and srun would then take any of the whole job's.
std::string argument_for_daemons(const LaunchRequest& request, const Lookup& environment) {
  if (request.local) return {};
  if (request.plan.component) return fmt::format("--het-group={}", *request.plan.component);
  const std::string own = environment("SLURMD_NODENAME").value_or("");
  const bool is_elsewhere =
      !own.empty() && !request.nodes.empty() &&
      std::find(request.nodes.begin(), request.nodes.end(), own) == request.nodes.end();
  return is_elsewhere ? "--nodelist=" + fold_hostlist(request.nodes) : "";
}

// Adds it. PRRTE removes the variable from srun's environment since release 3.0.7 (prte_init()),
// because Slurm sets it as well, which leaves only the command line.
void add_argument_for_daemons(LauncherCommand& command,
                              const LaunchRequest& request,
                              unsigned release,
                              const Lookup& environment) {
  const std::string argument = argument_for_daemons(request, environment);
  if (argument.empty()) return;
  const char* name =
      release < k_prrte_release ? "OMPI_MCA_plm_slurm_args" : "PRTE_MCA_plm_slurm_args";
  const std::string given = environment(name).value_or("");
  const std::string arguments = given + (given.empty() ? "" : " ") + argument;
  if (release < k_prrte_release)
    command.environment.emplace_back(name, arguments);
  else
    command.argv.insert(command.argv.begin() + 1, {"--prtemca", "plm_slurm_args", arguments});
}

Result<LauncherCommand> start_by_mpirun(const LaunchRequest& request,
                                        const std::string& answer,
                                        const Lookup& environment) {
  const unsigned release = open_mpi_release(answer).value_or(0);
  LauncherCommand command = mpirun_command(request, release);
  add_argument_for_daemons(command, request, release, environment);
  command.description = answer;
  return command;
}

}  // namespace

const LauncherType k_mpirun_launcher{
    ask_mpirun, mpirun_available, start_by_mpirun, &k_open_mpi, Mpi::open_mpi, nullptr};

}  // namespace dts::launch
