// SPDX-License-Identifier: Apache-2.0
#include "core/launch/launcher/identity.hpp"

#include "core/base/text/text.hpp"
#include "core/launch/launcher/identity_sources.hpp"
#include "core/launch/launcher/launcher.hpp"

#include <fmt/format.h>

#include <cstdlib>
#include <string_view>

namespace dts::launch {
namespace {

constexpr const char* k_pmix_rank = "PMIX_RANK";

bool is_there(const Source& source, const Lookup& lookup) {
  return lookup(source.rank) || lookup(source.world_size);
}

// The run id shows that RANK comes from torchrun and was not merely exported.
bool is_torchrun(const Lookup& lookup) {
  return lookup("TORCHELASTIC_RUN_ID") && lookup(k_torchrun.rank);
}

// The "job.step" for which Slurm's plug-in created the PMIx namespace, and below, the PMI of
// --mpi=pmi2; "" if another launcher created it, or its creator is not known.
std::string pmix_step(const Lookup& lookup) {
  constexpr std::string_view k_prefix = "slurm.pmix.";
  const std::string name = lookup("PMIX_NAMESPACE").value_or("");
  return name.rfind(k_prefix, 0) == 0 ? name.substr(k_prefix.size()) : "";
}

std::string pmi_step(const Lookup& lookup) {
  const std::string id = lookup("PMI_JOBID").value_or("");
  const auto parts = split(id, '.');
  return parts.size() == 2 && parse_number(parts[0]) && parse_number(parts[1]) ? id : "";
}

// True if `id`, a "job.step", is not our own step: the variables that name it were inherited.
bool is_elsewhere(const std::string& id,
                  const std::optional<SlurmStep>& step,
                  const Lookup& lookup) {
  const auto job = lookup("SLURM_JOB_ID");
  if (id.empty() || !job) return false;
  if (step && !step->id.empty()) return id != step->id;
  return id.rfind(*job + ".", 0) != 0;
}

tl::unexpected<Error> contradiction(const char* one, unsigned a, const char* other, unsigned b) {
  return fail(
      Errc::invalid,
      fmt::format(
          "{}={} but {}={}: two launchers have set this process's variables", one, a, other, b),
      "start the ranks once, from a batch script or a shell without the variables of another "
      "job");
}

// Open MPI's daemons are PMIx servers, too: number 0 is mpirun itself, the others are orted or
// prted on other nodes ("540409856.1;tcp4://..."). nullopt: no such server is named.
std::optional<unsigned> daemon_number(const Lookup& lookup) {
  const auto uri = lookup("PMIX_SERVER_URI2");
  if (!uri) return std::nullopt;
  const std::string server = uri->substr(0, uri->find(';'));
  const std::size_t dot = server.rfind('.');
  if (dot == std::string::npos || server.rfind("pmix-server.", 0) == 0) return std::nullopt;
  const auto number = parse_number(server.substr(dot + 1));
  return number ? std::optional<unsigned>(static_cast<unsigned>(*number)) : std::nullopt;
}

tl::unexpected<Error> world_of_one(const Source& source, const Identity& task) {
  return fail(Errc::invalid,
              fmt::format("{}=1 in task {} of the {} that srun started: each is a world of one",
                          source.world_size,
                          task.rank,
                          task.world_size),
              "start the ranks with mpirun alone, or with an srun --mpi=... that the program's MPI "
              "knows (`srun --mpi=list`)");
}

// `identity` comes from an mpirun or mpiexec inside `step`. This is valid if the
// step only has one daemon on each node. If it has several tasks, each of them
// has started a world of its own.
Result<void> check_inside_step(const Source& source,
                               const Identity& identity,
                               const SlurmStep& step,
                               const Lookup& lookup) {
  const Identity& task = step.identity;
  const auto daemon = daemon_number(lookup);
  if (task.world_size == 1 || (daemon && *daemon > 0)) return {};
  // `srun --ntasks=8 --pty bash`: only the first task has a terminal; the others have already
  // ended.
  if (task.rank == 0 && lookup("SLURM_PTY_PORT")) return {};
  // A child of a program in this step, whose MPI exported its own identity.
  if (!step.id.empty() && pmix_step(lookup) == step.id && identity.rank == task.rank &&
      identity.world_size == task.world_size)
    return {};
  const bool started_here = step.several_on_a_node || daemon == 0U;
  if (identity.world_size == 1 && (started_here || task.rank > 0))
    return world_of_one(source, task);
  if (!started_here) return {};
  return fail(Errc::invalid,
              fmt::format("mpirun inside srun: {}={} of {} in task {} of the {} that srun started; "
                          "each task starts a world of its own",
                          source.rank,
                          identity.rank,
                          identity.world_size,
                          task.rank,
                          task.world_size),
              "call mpirun once, from the batch script, or let srun start the ranks without it");
}

Result<Identity> from_mpirun(const Source& source, const Lookup& lookup) {
  DTS_ASSIGN(const Identity identity, read_source(source, lookup));
  // If the step's variables are unreadable, they leaked from elsewhere and do not contradict
  // mpirun.
  if (const auto step = slurm_step(lookup); step && *step)
    DTS_TRY(check_inside_step(source, identity, **step, lookup));
  return identity;
}

Result<Identity> from_open_mpi(const Lookup& lookup) {
  DTS_ASSIGN(Identity identity, from_mpirun(k_open_mpi, lookup));
  if (lookup(k_pmix_rank)) {  // mpirun sets both
    DTS_ASSIGN(const unsigned rank, read_number(k_open_mpi, k_pmix_rank, lookup));
    if (rank != identity.rank)
      return contradiction(k_open_mpi.rank, identity.rank, k_pmix_rank, rank);
  }
  return identity;
}

// srun --mpi=pmi2 sets rank and size, but no local rank: we take it from the step.
Result<void> check_pmi(const Identity& task, const Lookup& lookup) {
  DTS_ASSIGN(const unsigned rank, read_number(k_pmi, k_pmi.rank, lookup));
  DTS_ASSIGN(const unsigned size, read_number(k_pmi, k_pmi.world_size, lookup));
  if (size == 1 && task.world_size > 1) return world_of_one(k_pmi, task);
  if (size != task.world_size)
    return contradiction(k_pmi.world_size, size, "SLURM_STEP_NUM_TASKS", task.world_size);
  if (rank != task.rank) return contradiction(k_pmi.rank, rank, "SLURM_PROCID", task.rank);
  return {};
}

// Without mpirun, the process is a task of srun, or a worker of the torchrun that is this task.
Result<Identity> from_step(const SlurmStep& step, const Lookup& lookup) {
  Identity identity = step.identity;
  if (is_torchrun(lookup)) {
    const auto worker = read_source(k_torchrun, lookup);
    if (!step.several_on_a_node) return worker;
    if (worker && worker->local_size > 1U)
      return fail(Errc::invalid,
                  fmt::format("torchrun inside srun: LOCAL_WORLD_SIZE={} below each of several "
                              "tasks of srun on a node",
                              *worker->local_size),
                  "start one torchrun per node: srun --ntasks-per-node=1");
  }
  if (lookup(k_pmix_rank) && !is_elsewhere(pmix_step(lookup), step, lookup)) {
    DTS_ASSIGN(const unsigned rank, read_number(k_pmi, k_pmix_rank, lookup));
    if (rank != identity.rank)
      return contradiction(k_pmix_rank, rank, "SLURM_PROCID", identity.rank);
    identity.source = "PMIx";
  } else if (is_there(k_pmi, lookup) && !is_elsewhere(pmi_step(lookup), step, lookup)) {
    DTS_TRY(check_pmi(identity, lookup));
    identity.source = k_pmi.name;
  }
  return identity;
}

}  // namespace

Result<Identity> identify(const Lookup& lookup) {
  for (const spec::LauncherRow& row : spec::built_in_launchers()) {
    const Source* source = type_of(row.launcher).identity;
    if (source != nullptr && is_there(*source, lookup))
      return source == &k_open_mpi ? from_open_mpi(lookup) : from_mpirun(*source, lookup);
  }
  if (is_there(k_mvapich2, lookup)) return from_mpirun(k_mvapich2, lookup);
  if (is_there(k_pmi, lookup) && lookup(k_pmi.local_rank)) return from_mpirun(k_pmi, lookup);
  DTS_ASSIGN(const auto step, slurm_step(lookup));
  if (step) return from_step(*step, lookup);
  if (lookup(k_pmix_rank) && !is_elsewhere(pmix_step(lookup), step, lookup))
    return fail(Errc::invalid,
                fmt::format("{} is set, but neither mpirun nor a Slurm step says how many ranks "
                            "there are",
                            k_pmix_rank),
                "start ranks with mpirun or srun, and leave their variables in place");
  if (is_there(k_pmi, lookup) && !is_elsewhere(pmi_step(lookup), step, lookup))
    return read_source(k_pmi, lookup);
  if (is_torchrun(lookup)) return read_source(k_torchrun, lookup);
  Identity alone;
  alone.source = "none";
  return alone;
}

}  // namespace dts::launch
