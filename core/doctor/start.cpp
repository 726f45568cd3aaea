// SPDX-License-Identifier: Apache-2.0
// Whether a job starts as it should.
#include "core/base/text/text.hpp"
#include "core/doctor/questions.hpp"

#include <fmt/format.h>

namespace dts::doctor {
namespace {

constexpr std::uint64_t k_needed_memlock = std::uint64_t{1} << 30;  // bytes; a network's buffers

bool has_type(const std::string& list, std::string_view prefix) {
  for (const std::string& line : split(list, '\n'))
    if (trim(line).starts_with(prefix)) return true;
  return false;
}

// Types that hand a rank its number through PMIx, or PMI-2 for MPICH.
std::string types_of(const Facts& facts) {
  std::string known;
  for (const char* type : {"pmix", "pmi2"})
    if (has_type(facts.machine.srun_mpi, type))
      known += (known.empty() ? "" : ", ") + std::string(type);
  return known;
}

Verdict judge_srun(const Facts& facts) {
  if (facts.machine.srun_mpi.empty())
    return {Answer::unknown,
            "`srun --mpi=list` did not answer here",
            "run it on a node: MPI programs need pmix (Open MPI) or pmi2 (MPICH) in that list"};
  const std::string types = types_of(facts);
  if (has_type(facts.machine.srun_mpi, "pmix"))
    return {
        Answer::yes,
        fmt::format("srun has {}; dtsubmit chooses by what the program is linked with, whatever "
                    "MpiDefault={} says, and sets the variables of all frameworks",
                    types,
                    setting(facts, "MpiDefault"))};
  return {
      Answer::partly,
      fmt::format("srun has no PMIx ({}), so that each rank of an Open MPI program would be a "
                  "world of its own, which dtsubmit refuses; other programs find their ranks in "
                  "the variables that it sets",
                  types.empty() ? "no type for MPI at all" : "only " + types),
      "--launcher mpirun starts Open MPI programs without it",
      {{"slurm.conf",
        "MpiDefault",
        std::string(setting(facts, "MpiDefault")),
        "pmix",
        "with Slurm's PMIx plug-in installed (Debian: slurm-wlm-pmi2-contribs has PMI-2, "
        "slurmd the PMIx one), MPI programs start under srun"}}};
}

}  // namespace

Verdict judge_ranks(const Facts& facts) {
  const bool has_mpirun = !facts.machine.mpirun.empty();
  if (facts.job.launcher == "srun" || (facts.job.launcher == "auto" && !has_mpirun))
    return judge_srun(facts);
  if (facts.job.launcher == "mpirun" && !has_mpirun)
    return {Answer::no,
            "there is no mpirun here",
            "install Open MPI on all nodes, or try --launcher srun"};
  if (facts.job.launcher != "auto" && facts.job.launcher != "mpirun")
    return {Answer::unknown,
            fmt::format("{} is not looked at from here", facts.job.launcher),
            "`dtsubmit check --nodes 2` tries it"};
  return {Answer::yes,
          fmt::format("{} starts them without a plug-in of Slurm for MPI, and dtsubmit sets the "
                      "variables of all frameworks",
                      facts.machine.mpirun)};
}

Verdict judge_array(const Facts& facts) {
  const auto most = facts.site.max_array_size;
  if (facts.job.elements == 0) return {Answer::yes, "it is none"};
  if (most == 0) return {Answer::unknown, "the scheduler does not report MaxArraySize"};
  if (facts.job.elements <= most)
    return {
        Answer::yes,
        fmt::format("its largest index is {}, and MaxArraySize={}", facts.job.elements - 1, most)};
  return {Answer::no,
          fmt::format("its largest index is {}, and indices have to be below MaxArraySize={}",
                      facts.job.elements - 1,
                      most),
          "submit it in pieces",
          {{"slurm.conf",
            "MaxArraySize",
            std::to_string(most),
            std::to_string(facts.job.elements),
            "indices of job arrays are below it; MaxJobCount has to hold them"}}};
}

Verdict judge_run_folder(const Facts& facts) {
  const std::string& folder = facts.machine.runs;
  if (facts.machine.local_type.empty())
    return {Answer::yes, fmt::format("{} is on a file system that machines can share", folder)};
  return {
      facts.job.nodes > 1 ? Answer::partly : Answer::unknown,
      fmt::format("{} is on {}, which only this machine sees", folder, facts.machine.local_type),
      "set --runs to a folder on a shared file system, unless all nodes are this machine"};
}

Verdict judge_locked_memory(const Facts& facts) {
  const auto limit = facts.machine.memlock;
  if (facts.job.nodes < 2) return {Answer::yes, "it has one node"};
  if (!limit) return {Answer::yes, "unlimited here"};
  if (*limit >= k_needed_memlock) return {Answer::yes, fmt::format("{} MiB here", *limit >> 20U)};
  const bool is_excepted = lists(facts, "PropagateResourceLimitsExcept", "MEMLOCK") ||
                           lists(facts, "PropagateResourceLimits", "NONE");
  if (is_excepted)
    return {
        Answer::unknown,
        fmt::format("{} KiB here, which jobs do not inherit; that of slurmd counts", *limit >> 10U),
        "`dtsubmit check --nodes 2` measures the network"};
  return {Answer::partly,
          fmt::format("jobs inherit this machine's limit of {} KiB, with which InfiniBand and RoCE "
                      "cannot register their buffers; TCP works",
                      *limit >> 10U),
          "--ulimit memlock=unlimited, if the hard limit allows it",
          {{"slurm.conf",
            "PropagateResourceLimitsExcept",
            std::string(setting(facts, "PropagateResourceLimitsExcept")),
            "MEMLOCK",
            "jobs would have the limit of slurmd, which systemd can make unlimited "
            "(LimitMEMLOCK=infinity)"}}};
}

}  // namespace dts::doctor
