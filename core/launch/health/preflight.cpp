// SPDX-License-Identifier: Apache-2.0
#include "core/launch/health/preflight.hpp"

#include "core/base/text/counted.hpp"
#include "core/base/text/text.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <utility>

namespace dts::launch {
namespace {

using std::chrono::milliseconds;

constexpr std::uint64_t k_mib = std::uint64_t{1} << 20;
constexpr std::uint64_t k_least_run_mib = 16;  // too little for any checkpoint
constexpr std::uint64_t k_scarce_run_mib = 1024;
constexpr std::uint64_t k_least_shm_mib = 1;    // for each rank
constexpr std::uint64_t k_scarce_shm_mib = 64;  // for each rank: data loaders, NCCL
constexpr std::uint64_t k_scarce_memory_mib = 1024;
constexpr milliseconds k_skew{1000};
constexpr milliseconds k_large_skew{30000};

// Reasons for throttling (nvml.h, nvmlClocksThrottleReason*) that mean too little cooling or power.
constexpr std::pair<std::uint64_t, const char*> k_throttles[] = {
    {0x08, "hardware slowdown"},
    {0x20, "software thermal slowdown"},
    {0x40, "hardware thermal slowdown"},
    {0x80, "power brake"},
};

class Findings {
 public:
  template <class... Arguments>
  void add(Severity severity, fmt::format_string<Arguments...> words, Arguments&&... arguments) {
    all.push_back(
        {severity, false, fmt::format(words, std::forward<Arguments>(arguments)...), false});
  }

  std::vector<Finding> all;
};

void judge_run_directory(const NodeFacts& facts, const NodeDemand& demand, Findings& found) {
  const std::string& folder = demand.run_directory;
  if (facts.write_errno != 0) {
    found.add(Severity::unfit,
              "cannot write in the run directory {}: {}; look at that file system's mount on the "
              "node",
              folder,
              std::strerror(facts.write_errno));
    found.all.back().disk = facts.write_errno == ENOSPC || facts.write_errno == EDQUOT;
    return;
  }
  if (!facts.run_free || *facts.run_free >= k_scarce_run_mib * k_mib) return;
  const bool least = *facts.run_free < k_least_run_mib * k_mib;
  found.add(least ? Severity::unfit : Severity::warning,
            "{} MiB free in the run directory {}, {} is less than {}; make space",
            *facts.run_free / k_mib,
            folder,
            least ? "which" : "and what is scarce",
            least ? fmt::format("{} MiB", k_least_run_mib) : "1 GiB");
  found.all.back().disk = least;
}

void judge_memory(const NodeFacts& facts, const NodeDemand& demand, Findings& found) {
  if (!facts.memory) return;
  const std::uint64_t free = *facts.memory / k_mib;
  const std::uint64_t asked = demand.memory_mib.value_or(0);
  if (asked == 0 && free < k_scarce_memory_mib)
    found.add(Severity::warning, "{} MiB of memory available, less than 1 GiB", free);
  if (free >= asked) return;
  found.add(free < asked / 2 ? Severity::unfit : Severity::warning,
            "{} MiB of memory available, {} were requested (unfit below half of that); processes "
            "of an earlier job may hold it",
            free,
            asked);
}

// Programs fall back on another folder if this one is absent or forbidden, but only some, such as
// Python, if it is full.
void judge_temporary_folder(const NodeFacts& facts, Findings& found) {
  const int error = facts.tmp_errno;
  if (error == 0) return;
  const bool may_fall_back = error == ENOENT || error == ENOTDIR || error == EACCES;
  const bool is_full = error == ENOSPC || error == EDQUOT;
  found.add(may_fall_back ? Severity::warning : Severity::unfit,
            "cannot write in {}, the folder for temporary files: {}; {}{}",
            facts.tmp,
            std::strerror(error),
            may_fall_back ? "set TMPDIR to one that you can write to on every node"
            : is_full     ? "remove what earlier jobs left there"
                          : "look at that file system's mount on the node",
            facts.other_tmp.empty() ? "" : ", or set TMPDIR to " + facts.other_tmp);
  found.all.back().disk = error == EDQUOT;
  found.all.back().tolerable = is_full && !facts.other_tmp.empty();
}

void judge_shared_memory(const NodeFacts& facts, const NodeDemand& demand, Findings& found) {
  if (facts.shm_errno == ENOENT)
    return found.add(Severity::warning, "no /dev/shm, which NCCL and MPI use between ranks");
  if (facts.shm_errno != 0)
    return found.add(Severity::unfit,
                     "cannot write in /dev/shm: {}; remove what earlier jobs left there",
                     std::strerror(facts.shm_errno));
  if (!facts.shm_free || *facts.shm_free >= k_scarce_shm_mib * k_mib * demand.ranks) return;
  const bool least = *facts.shm_free < k_least_shm_mib * k_mib * demand.ranks;
  found.add(least ? Severity::unfit : Severity::warning,
            "{} MiB free in /dev/shm for {}, less than {} each; remove what earlier jobs left "
            "there, or have it mounted larger",
            *facts.shm_free / k_mib,
            counted(demand.ranks, "rank"),
            least ? "1 MiB" : "64 MiB");
}

void judge_gpu(const GpuFacts& gpu, Findings& found) {
  if (gpu.lost)
    return found.add(Severity::unfit, "GPU {} has fallen off the bus; reboot the node", gpu.pci);
  if (gpu.uncorrected.value_or(0) > 0)
    found.add(Severity::unfit,
              "GPU {}: {} since its driver was loaded, 0 are allowed; have "
              "it reset",
              gpu.pci,
              counted(*gpu.uncorrected, "uncorrectable ECC error"));
  if (gpu.remap_failed)
    found.add(Severity::unfit, "GPU {}: a row remapping failed; replace the GPU", gpu.pci);
  if (gpu.retirement_pending)
    found.add(Severity::warning,
              "GPU {}: a page retirement or row remapping is pending; have it reset",
              gpu.pci);
  for (const auto& [bit, words] : k_throttles)
    if ((gpu.throttling & bit) != 0)
      found.add(Severity::warning, "GPU {} is slow: {}; look at cooling and power", gpu.pci, words);
}

void judge_gpus(const NodeFacts& facts, const NodeDemand& demand, Findings& found) {
  if (demand.gpus == 0) return;
  if (facts.no_nvml.empty()) {
    for (const GpuFacts& gpu : facts.gpus) judge_gpu(gpu, found);
    std::size_t there = 0;  // in MIG mode, Slurm counts a GPU's instances as GPUs
    for (const GpuFacts& gpu : facts.gpus) there += gpu.instances;
    if (there < demand.gpus)
      found.add(Severity::unfit,
                "NVML counts {} here, {} planned; look for Xid in its kernel log",
                counted(facts.gpus.size(), "GPU"),
                demand.gpus);
    return;
  }
  const std::string counted =
      demand.pci_gpus ? fmt::format("{} on its PCI buses", *demand.pci_gpus) : "not even counted";
  // A machine whose GPUs are simulated, or are not PCI devices, shows no GPUs on its PCI buses.
  const bool fewer = demand.pci_gpus.value_or(0) > 0 && *demand.pci_gpus < demand.gpus;
  found.add(fewer ? Severity::unfit : Severity::note,
            "the health of its GPUs is unknown without NVML ({}): {}, {} are planned",
            facts.no_nvml,
            counted,
            demand.gpus);
}

}  // namespace

std::vector<Finding> judge(const NodeFacts& facts, const NodeDemand& demand) {
  Findings found;
  judge_run_directory(facts, demand, found);
  judge_memory(facts, demand, found);
  judge_temporary_folder(facts, found);
  judge_shared_memory(facts, demand, found);
  if (facts.loopback_errno != 0)
    found.add(
        Severity::unfit,
        "cannot connect to itself, neither at 127.0.0.1 nor at ::1: {}; is the interface lo up?",
        std::strerror(facts.loopback_errno));
  judge_gpus(facts, demand, found);
  return std::move(found.all);
}

Finding judge_gpu_type(unsigned number, const topo::Gpu& gpu, const std::string& type) {
  return {Severity::unfit,
          false,
          fmt::format("GPU {} ({}) is {}, not of the requested type {} that other GPUs of the node "
                      "are of; have its gres.conf corrected, or ask for GPUs without a type",
                      number,
                      gpu.pci.empty() ? gpu.name : gpu.pci,
                      gpu.model,
                      type)};
}

std::optional<Finding> judge_clock(milliseconds ahead, milliseconds doubt) {
  const milliseconds sure = milliseconds(std::abs(ahead.count())) - doubt;
  if (sure < k_skew) return std::nullopt;
  const double seconds = std::chrono::duration<double>(sure).count();
  return Finding{Severity::warning,
                 false,
                 fmt::format("its clock is {:.1f} s {} the agent's, more than 1 s{}; is its time "
                             "synchronised?",
                             seconds,
                             ahead.count() > 0 ? "ahead of" : "behind",
                             sure < k_large_skew
                                 ? ""
                                 : ": times in its logs and DTSUBMIT_DEADLINE are wrong by as much "
                                   "there, and Slurm refuses its messages from 300 s on")};
}

NodeVerdict verdict_on(const std::string& node, const std::vector<Finding>& findings) {
  NodeVerdict verdict;
  for (const Finding& finding : findings) {
    const bool warning = finding.severity == Severity::warning;
    verdict.warned = verdict.warned || warning;
    if (finding.severity == Severity::unfit) {
      verdict.unfit += (verdict.unfit.empty() ? "" : "; ") + finding.text;
      verdict.disk = verdict.disk && finding.disk;
      verdict.tolerable = verdict.tolerable && finding.tolerable;
    } else {
      verdict.notes.push_back(
          fmt::format("pre-flight{}: {}: {}", warning ? ", a warning" : "", node, finding.text));
    }
  }
  return verdict;
}

}  // namespace dts::launch
