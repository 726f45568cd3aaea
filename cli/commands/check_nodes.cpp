// SPDX-License-Identifier: Apache-2.0
#include "cli/commands/check_nodes.hpp"

#include "core/base/os/program_file.hpp"
#include "core/base/text/hostlist.hpp"
#include "core/base/text/text.hpp"
#include "core/launch/launcher/ssh_launcher.hpp"

#include <fmt/format.h>
#include <unistd.h>

namespace dts::cli {
namespace {

using Variables = std::vector<std::string>;

void add(Variables& environment, const std::string& name, const std::string& value) {
  environment.push_back(name + "=" + value);
}

// From release 5 on, each of Open MPI's parameters has another name. The names of the other release
// are ignored, so both are set.
void reach_by_ssh(const std::vector<std::string>& ssh, Variables& environment) {
  const std::string agent = join(launch::with_ssh_options(ssh), " ");
  for (const char* prefix : {"OMPI_MCA_plm_rsh_", "PRTE_MCA_plm_ssh_"}) {
    add(environment, std::string(prefix) + "agent", agent);
    // Hosts accept our key, but not each other's.
    add(environment, std::string(prefix) + "no_tree_spawn", "1");
  }
}

// Starts one task on each of the nodes, regardless of the allocation's layout, and of whether we
// are its shell or a step in it: the variables of a step only name the step's own nodes.
void enter_allocation(const std::vector<std::string>& nodes,
                      const Lookup& lookup,
                      Variables& environment) {
  const std::string list = fold_hostlist(nodes), count = std::to_string(nodes.size());
  const std::string job = lookup("SLURM_JOB_ID").value_or("");
  for (const char* name : {"SLURM_JOB_ID", "SLURM_JOBID"}) add(environment, name, job);
  for (const char* name : {"SLURM_JOB_NODELIST", "SLURM_NODELIST"}) add(environment, name, list);
  for (const char* name : {"SLURM_JOB_NUM_NODES", "SLURM_NNODES"}) add(environment, name, count);
  add(environment, "SLURM_TASKS_PER_NODE", fmt::format("1(x{})", nodes.size()));
  add(environment, "SLURM_OVERLAP", "1");  // shares the nodes with a step around us
}

}  // namespace

Result<Command> mpirun_on(const MeasuredNodes& nodes,
                          const std::vector<std::string>& words,
                          std::vector<std::string> environment,
                          const Lookup& lookup) {
  const auto mpirun = find_program("mpirun");
  if (!mpirun)
    return fail(Errc::not_found,
                "no mpirun on this machine, to measure between nodes",
                "install Open MPI (openmpi-bin) or load its module, or submit the check with "
                "--nodes");
  std::string hosts;
  for (const std::string& name : nodes.names)
    hosts += fmt::format("{}{}:1", hosts.empty() ? "" : ",", name);
  Command command;
  // By its path, so that it finds its daemon at the same path on the nodes.
  command.argv = {*mpirun,
                  "--np",
                  std::to_string(nodes.names.size()),
                  "--host",
                  hosts,
                  "--map-by",
                  "ppr:1:node",
                  "--bind-to",
                  "none"};
  command.argv.insert(command.argv.end(), words.begin(), words.end());
  if (!nodes.ssh.empty())
    reach_by_ssh(nodes.ssh, environment);
  else
    enter_allocation(nodes.names, lookup, environment);
  if (::geteuid() == 0) {
    add(environment, "OMPI_ALLOW_RUN_AS_ROOT", "1");
    add(environment, "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1");
  }
  command.env = std::move(environment);
  return command;
}

}  // namespace dts::cli
