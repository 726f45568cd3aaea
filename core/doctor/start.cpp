// SPDX-License-Identifier: Apache-2.0
// Whether a job starts as it should.
#include "core/base/text/text.hpp"
#include "core/doctor/questions.hpp"

#include <fmt/format.h>

namespace dts::doctor {

// Judges when nodes run the site's Prolog: slurm.conf(5), PrologFlags, where Contain and X11 imply
// Alloc.
Verdict judge_prolog(const Facts& facts) {
  if (!knows_settings(facts)) return not_known();
  const std::string prolog(setting(facts, "Prolog"));
  if (prolog.empty()) return {Answer::yes, "the site has no Prolog"};
  const char* const k_serial = lists(facts, "PrologFlags", "Serial")
                                   ? "; jobs that begin on one node wait for each other (Serial)"
                                   : "";
  for (const char* flag : {"Alloc", "Contain", "X11", "ForceRequeueOnFail"})
    if (lists(facts, "PrologFlags", flag))
      return {Answer::yes,
              fmt::format("all nodes run the Prolog when the job begins (PrologFlags={}), and "
                          "ranks start after it has ended{}",
                          setting(facts, "PrologFlags"),
                          k_serial)};
  if (facts.job.nodes < 2)
    return {Answer::yes,
            fmt::format("its node runs the Prolog before the job's script{}", k_serial)};
  return {Answer::partly,
          fmt::format("all nodes but the first run the Prolog at the first process of a step, "
                      "which delays their ranks; they have {} s (--start-timeout){}",
                      facts.job.start_timeout.count(),
                      k_serial),
          "",
          {{"slurm.conf",
            "PrologFlags",
            std::string(setting(facts, "PrologFlags")),
            "Alloc",
            "all nodes run the Prolog at once, when the job begins"}}};
}

Verdict judge_array(const Facts& facts) {
  const auto most = facts.site.max_array_size;
  if (facts.job.elements == 0) return {Answer::yes, "the job is not an array"};
  if (most == 0) return {Answer::unknown, "the scheduler does not report MaxArraySize"};
  if (facts.job.elements <= most)
    return {
        Answer::yes,
        fmt::format("its largest index is {}, and MaxArraySize={}", facts.job.elements - 1, most)};
  return {Answer::no,
          fmt::format("its largest index is {}, and indices must be below MaxArraySize={}",
                      facts.job.elements - 1,
                      most),
          "submit it in parts",
          {{"slurm.conf",
            "MaxArraySize",
            std::to_string(most),
            std::to_string(facts.job.elements),
            "indices of job arrays must be below it; MaxJobCount must be large enough"}}};
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
  if (facts.job.nodes < 2) return {Answer::yes, "the job has one node"};
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
            "jobs would get the limit of slurmd, which systemd can make unlimited "
            "(LimitMEMLOCK=infinity)"}}};
}

}  // namespace dts::doctor
