// SPDX-License-Identifier: Apache-2.0
// Checks of a node before programs start there, and their consequences. Only a fault that makes
// training impossible makes a node unfit; other faults are reported as warnings. Pure, thread-safe.
//
// The limits for GPUs are those of NVIDIA's DCGM health checks (docs.nvidia.com/datacenter/dcgm,
// "Health Monitoring"): uncorrectable errors since the driver was loaded and a failed row remapping
// need the node's administrator, while a pending remapping only needs a reset.
#pragma once

#include "core/base/result.hpp"
#include "core/topo/topology.hpp"

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace dts::launch {

// One GPU as NVML (nvml.h) reports it. Absent: the GPU does not report the value.
struct GpuFacts {
  std::string pci;  // "00000000:3B:00.0"; its index if even this is not known
  bool lost = false;
  std::optional<std::uint64_t> uncorrected{};  // ECC errors since the driver was loaded
  bool retirement_pending = false;             // a page or row will be replaced at the next reset
  bool remap_failed = false;
  std::uint64_t throttling = 0;  // nvmlClocksThrottleReasons
  unsigned instances = 1;        // the maximum in MIG mode, otherwise 1
};

// What a node measured about itself, see measure_node().
struct NodeFacts {
  int write_errno = 0;                      // of writing, syncing and removing a file
  std::optional<std::uint64_t> run_free{};  // bytes, in the run directory
  std::optional<std::uint64_t> memory{};    // bytes, MemAvailable of proc(5)
  std::string tmp{};                        // the folder for temporary files: TMPDIR, or /tmp
  int tmp_errno = 0;                        // the same for it
  std::string other_tmp{};                  // if it is full: one that is not; empty: none
  int shm_errno = 0;                        // the same for /dev/shm
  std::optional<std::uint64_t> shm_free{};  // bytes
  int loopback_errno = 0;                   // of connecting to itself, at 127.0.0.1 or ::1
  std::string no_nvml{};                    // why NVML was not queried; empty: it was, see `gpus`
  std::vector<GpuFacts> gpus{};
};

// to_text() yields one line of JSON; parse_node_facts() yields Errc::invalid for anything else.
[[nodiscard]] std::string to_text(const NodeFacts& facts);
[[nodiscard]] Result<NodeFacts> parse_node_facts(std::string_view text);

// What the plan requires of a node.
struct NodeDemand {
  std::string run_directory;
  unsigned ranks = 1;                        // on each node
  unsigned gpus = 0;                         // on each node
  std::optional<std::uint64_t> memory_mib;   // --mem; 0: all memory of the node
  std::optional<std::size_t> pci_gpus = {};  // GPUs found on its PCI buses, if known
};

enum class Severity { note, warning, unfit };

struct Finding {
  Severity severity = Severity::warning;
  // Of the user's making: no space or quota left in the run directory, or no quota for temporary
  // files.
  bool disk = false;
  std::string text;  // what was measured, the limit, and what to do
  // Only some programs fail from it, so a node that has it is used if there is no better one.
  bool tolerable = false;
};

[[nodiscard]] std::vector<Finding> judge(const NodeFacts& facts, const NodeDemand& demand);

// The finding that GPU number `number` of a node, `gpu`, is not of the requested type.
[[nodiscard]] Finding judge_gpu_type(unsigned number,
                                     const topo::Gpu& gpu,
                                     const std::string& type);

// The conclusion from the findings of one node.
struct NodeVerdict {
  std::string unfit;      // reasons, separated by "; "; empty: the node is fit
  bool disk = true;       // every reason is of the user's making: Finding::disk
  bool tolerable = true;  // every reason is Finding::tolerable
  bool warned = false;
  std::vector<std::string> notes;  // all other findings, as texts for the log
};

[[nodiscard]] NodeVerdict verdict_on(const std::string& node, const std::vector<Finding>& findings);

// `ahead`: the node's clock minus the agent's, with an uncertainty of `doubt`. From 1 s on, a
// difference is reported as a warning. It never makes a node unfit, since training does not depend
// on clocks.
[[nodiscard]] std::optional<Finding> judge_clock(std::chrono::milliseconds ahead,
                                                 std::chrono::milliseconds doubt);

}  // namespace dts::launch
