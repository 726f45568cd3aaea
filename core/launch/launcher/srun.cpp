// SPDX-License-Identifier: Apache-2.0
#include "core/launch/launcher/srun.hpp"

#include "core/base/os/process.hpp"
#include "core/base/os/program_file.hpp"
#include "core/base/text/counted.hpp"
#include "core/base/text/hostlist.hpp"
#include "core/base/text/text.hpp"
#include "core/launch/launcher/own_steps.hpp"

#include <fmt/format.h>

namespace dts::launch {

std::string mpi_type_of(std::string_view list, const ProgramMpi& program) {
  for (const auto& [type, is_known] :
       {std::pair("pmix", program.knows_pmix), std::pair("pmi2", program.knows_pmi2)})
    for (const std::string& line : split(list, '\n'))
      if (is_known && trim(line) == type) return type;
  return "none";
}

LauncherCommand srun_command(const LaunchRequest& request, const std::string& mpi) {
  const plan::Plan& plan = request.plan;
  LauncherCommand command;
  command.argv = srun_of(plan.component);
  std::vector<std::string> options{fmt::format("--nodes={}", plan.nodes),
                                   fmt::format("--ntasks={}", plan.world_size),
                                   fmt::format("--ntasks-per-node={}", plan.ntasks_per_node)};
  // Since Slurm 22.05, srun does not inherit it from the job's --cpus-per-task. With a number,
  // Slurm chooses the step's cores, and would choose the same ones for each of the roles on a node.
  if (!plan.shared) options.push_back(fmt::format("--cpus-per-task={}", plan.cpus_per_task));
  options.insert(options.end(),
                 {"--distribution=block:block",
                  "--cpu-bind=none",
                  "--export=ALL",
                  "--input=none",
                  // A rank process only fails when its agent is gone; then no rank may continue for
                  // long.
                  "--kill-on-bad-exit=1",
                  "--wait=60",
                  "--mpi=" + mpi});
  command.argv.insert(command.argv.end(), options.begin(), options.end());
  // If its control group contained only its own GPU, a rank could not open its peers' memory (CUDA
  // IPC); besides, the plan assigns GPUs. Without this option, the job's SLURM_GPU_BIND would
  // apply.
  if (plan::gpus_of_node(plan) > 0) command.argv.emplace_back("--gpu-bind=none");
  if (!request.nodes.empty()) command.argv.push_back("--nodelist=" + fold_hostlist(request.nodes));
  if (request.may_meet_steps()) command.argv.emplace_back("--overlap");
  command.argv.insert(command.argv.end(), request.rank_command.begin(), request.rank_command.end());
  return command;
}

namespace {

// The output of `srun --mpi=list`.
Result<std::string> ask_srun() {
  if (!find_program("srun")) return fail(Errc::not_found, "no srun");
  Command ask;
  ask.argv = {"srun", "--mpi=list"};
  DTS_ASSIGN(const Output list, run_process(std::move(ask), k_question_limit));
  return list.out + list.err;
}

Result<void> srun_available(const Result<std::string>& answer, bool local) {
  if (local)
    return fail(Errc::invalid,
                "--launcher srun needs a Slurm allocation",
                "use `dtsubmit submit`, or --launcher mpirun on this machine");
  if (answer) return {};
  if (answer.error().code != Errc::not_found) return tl::unexpected(answer.error());
  return fail(Errc::not_found, "no srun on this node", "install slurm-client on the nodes");
}

std::string type_for(const std::string& answer, const LaunchRequest& request) {
  const std::string& asked = request.plan.srun_mpi;
  return asked.empty() ? mpi_type_of(answer, request.program_mpi) : asked;
}

Result<void> srun_suits(const std::string& answer, const LaunchRequest& request) {
  if (type_for(answer, request) != "none" || request.plan.srun_mpi == "none") return {};
  const ProgramMpi& program = request.program_mpi;
  return fail(Errc::not_found,
              fmt::format("srun has no --mpi type for {} of {}, which the program is linked with: "
                          "each rank would be a world of one",
                          program.library,
                          to_string(program.mpi)),
              fmt::format("use --launcher {}, or name one of `srun --mpi=list` by --mpi",
                          program.mpi == Mpi::mpich ? "mpiexec" : "mpirun"));
}

Result<void> srun_has_room(const plan::Plan& plan) {
  if (plan.most_srun_ranks == 0 || plan.ntasks_per_node <= plan.most_srun_ranks) return {};
  return fail(Errc::not_found,
              fmt::format("srun starts at most {} on a node (MaxTasksPerNode), and {} are planned",
                          counted(plan.most_srun_ranks, "rank"),
                          plan.ntasks_per_node),
              "submit it with fewer --ntasks-per-node, or use --launcher mpirun, which the nodes "
              "must have");
}

Result<LauncherCommand> start_by_srun(const LaunchRequest& request,
                                      const std::string& answer,
                                      const Lookup& environment) {
  const std::string mpi = type_for(answer, request);
  LauncherCommand command = srun_command(request, mpi);
  command.description = "srun --mpi=" + mpi;
  if (mpi == "pmix" && !environment(k_pmix_fence.first))
    command.environment.emplace_back(k_pmix_fence);
  return command;
}

}  // namespace

const LauncherType k_srun_launcher{
    ask_srun, srun_available, start_by_srun, nullptr, Mpi::unknown, srun_suits, srun_has_room};

}  // namespace dts::launch
