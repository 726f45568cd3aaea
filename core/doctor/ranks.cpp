// SPDX-License-Identifier: Apache-2.0
// Whether ranks find each other: checks the launchers on this machine, and the PMIx of Slurm and
// Open MPI. From PMIx 2.1.1 on, any two releases are compatible (openpmix wiki, "How does PMIx work
// with containers?").
#include "core/base/release.hpp"
#include "core/base/text/text.hpp"
#include "core/doctor/questions.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace dts::doctor {
namespace {

constexpr unsigned k_release_with_pmix = 5;  // of Open MPI: from it on, it is nothing without PMIx

bool has_type(const std::string& list, std::string_view prefix) {
  for (const std::string& line : split(list, '\n'))
    if (trim(line).starts_with(prefix)) return true;
  return false;
}

// The --mpi types that tell a rank its number by PMIx, or by PMI-2 for MPICH, with the releases of
// PMIx: "pmix (pmix_v4), pmi2".
std::string types_of(const Facts& facts) {
  constexpr std::string_view k_versions = "versions available:";
  const std::string& list = facts.machine.srun_mpi;
  std::string known;
  if (has_type(list, "pmix")) known = "pmix";
  if (const auto at = list.find(k_versions); at != std::string::npos)
    known +=
        fmt::format(" ({})",
                    trim(std::string_view(list).substr(
                        at + k_versions.size(), list.find('\n', at) - at - k_versions.size())));
  if (has_type(list, "pmi2")) known += known.empty() ? "pmi2" : ", pmi2";
  return known;
}

// True if the Open MPI on this machine has a component whose name begins with one of `beginnings`.
bool has_component(const Facts& facts, std::initializer_list<std::string_view> beginnings) {
  const auto& all = facts.machine.open_mpi.pmix;
  return std::any_of(all.begin(), all.end(), [&](const std::string& one) {
    return std::any_of(beginnings.begin(), beginnings.end(), [&](std::string_view beginning) {
      return one.starts_with(beginning);
    });
  });
}

// True if programs of this Open MPI cannot use Slurm's PMIx.
bool lacks_pmix(const Facts& facts) {
  const std::string& release = facts.machine.open_mpi.release;
  const auto major = parse_number(release.substr(0, release.find('.')));
  return major && *major < k_release_with_pmix && !has_component(facts, {"pmix", "ext"});
}

// See openpmix issue 3645, and Slurm's release notes for 25.05.
bool is_known_to_hang(const Facts& facts) {
  const std::string& pmix = facts.machine.open_mpi.pmix_release;
  const auto slurm = release_of(facts.site.version);
  return (pmix == "5.0.8" || pmix == "5.0.9") && slurm && *slurm < Release{25, 5};
}

// "Open MPI 4.1.4 with PMIx 4.2.2"
std::string our_open_mpi(const Facts& facts) {
  const OpenMpi& ours = facts.machine.open_mpi;
  return "Open MPI " + ours.release +
         (ours.pmix_release.empty() ? "" : " with PMIx " + ours.pmix_release);
}

Verdict judge_pmix(const Facts& facts, const std::string& types) {
  constexpr const char* k_instead =
      "--launcher mpirun starts Open MPI programs without Slurm's PMIx";
  if (lacks_pmix(facts))
    return {Answer::partly,
            fmt::format("srun has {}, but Open MPI {} has no component for PMIx here ({}): each "
                        "rank of its programs would form its own world, which dtsubmit refuses",
                        types,
                        facts.machine.open_mpi.release,
                        facts.machine.open_mpi.pmix.empty()
                            ? "none at all"
                            : "only " + join(facts.machine.open_mpi.pmix, ", ")),
            k_instead};
  if (is_known_to_hang(facts))
    return {Answer::partly,
            fmt::format("{}: its programs are known to hang when srun of Slurm {} starts them "
                        "(fixed in 25.05)",
                        our_open_mpi(facts),
                        facts.site.version),
            k_instead};
  return {Answer::yes,
          fmt::format("srun has {}{}; dtsubmit chooses by the MPI that the program is linked with, "
                      "regardless of MpiDefault={}, and sets the variables of all frameworks",
                      types,
                      facts.machine.open_mpi.release.empty()
                          ? ""
                          : ", which programs of " + our_open_mpi(facts) + " understand",
                      setting(facts, "MpiDefault"))};
}

Verdict judge_srun(const Facts& facts) {
  if (facts.machine.srun_mpi.empty())
    return {Answer::unknown,
            "`srun --mpi=list` did not answer here",
            "run it on a node: MPI programs need pmix (Open MPI) or pmi2 (MPICH) in that list"};
  const std::string types = types_of(facts);
  if (has_type(facts.machine.srun_mpi, "pmix")) return judge_pmix(facts, types);
  if (has_type(facts.machine.srun_mpi, "pmi2") && has_component(facts, {"s2"}))
    return {Answer::yes,
            fmt::format(
                "srun has only {}, for which {} has a component (s2)", types, our_open_mpi(facts))};
  return {Answer::partly,
          fmt::format("srun has no PMIx ({}), so each rank of an Open MPI program would form its "
                      "own world, which dtsubmit refuses; other programs find their ranks in the "
                      "variables that dtsubmit sets",
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
            fmt::format("{} cannot be tested from here", facts.job.launcher),
            "`dtsubmit check --nodes 2` tries it"};
  return {Answer::yes,
          fmt::format("{} starts ranks without an MPI plug-in of Slurm, and dtsubmit sets the "
                      "variables of all frameworks",
                      facts.machine.open_mpi.release.empty() ? facts.machine.mpirun
                                                             : "mpirun of " + our_open_mpi(facts))};
}

}  // namespace dts::doctor
