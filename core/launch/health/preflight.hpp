// SPDX-License-Identifier: Apache-2.0
// The checks of a node before programs start there, and their consequences. Only a fault that makes
// training impossible makes a node unfit; the rest is reported as a warning. Pure, thread-safe.
//
// The GPU's limits are those of NVIDIA's DCGM health checks (docs.nvidia.com/datacenter/dcgm,
// "Health Monitoring"): uncorrectable errors since the driver was loaded and a failed row remapping
// need the node's administrator, a pending one only a reset.
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

// One GPU as NVML (nvml.h) reports it. Absent values are not reported by the GPU.
struct GpuFacts {
  std::string pci;  // "00000000:3B:00.0"; its index if even that is not known
  bool lost = false;
  std::optional<std::uint64_t> uncorrected{};  // ECC errors since the driver was loaded
  bool retirement_pending = false;             // a page or row will be replaced at the next reset
  bool remap_failed = false;
  std::uint64_t throttling = 0;  // nvmlClocksThrottleReasons
  unsigned instances = 1;        // the most it can have in MIG mode, otherwise 1
};

// A node's measurements of itself, made by measure_node().
struct NodeFacts {
  int write_errno = 0;                      // from writing, syncing and removing a file
  std::optional<std::uint64_t> run_free{};  // bytes, in the run directory
  std::optional<std::uint64_t> memory{};    // bytes, MemAvailable of proc(5)
  int shm_errno = 0;                        // for /dev/shm
  std::optional<std::uint64_t> shm_free{};  // bytes
  int loopback_errno = 0;                   // from a connection to itself, at 127.0.0.1 or ::1
  std::string no_nvml{};                    // why NVML was not queried; empty: it was, see `gpus`
  std::vector<GpuFacts> gpus{};
};

// One line of JSON, and back. Errc::invalid for anything that is not such a line.
[[nodiscard]] std::string to_text(const NodeFacts& facts);
[[nodiscard]] Result<NodeFacts> parse_node_facts(std::string_view text);

// The plan's requirements for the node.
struct NodeDemand {
  std::string run_directory;
  unsigned ranks = 1;                        // on this node
  unsigned gpus = 0;                         // on each node
  std::optional<std::uint64_t> memory_mib;   // --mem; 0 means all of it
  std::optional<std::size_t> pci_gpus = {};  // on its PCI buses, if known
};

enum class Severity { note, warning, unfit };

struct Finding {
  Severity severity = Severity::warning;
  bool disk = false;  // the user's: no space or quota left in the run directory
  std::string text;   // what was measured, the limit, and what to do
};

[[nodiscard]] std::vector<Finding> judge(const NodeFacts& facts, const NodeDemand& demand);

// GPU number `number` of a node, `gpu`, is not of the type that the job asked for.
[[nodiscard]] Finding judge_gpu_type(unsigned number,
                                     const topo::Gpu& gpu,
                                     const std::string& type);

// The conclusion from the findings of one node.
struct NodeVerdict {
  std::string unfit;  // why the node is unfit, separated by "; "; empty: it is fit
  bool disk = true;   // the run directory's disk is the only reason
  bool warned = false;
  std::vector<std::string> notes;  // the other findings, as texts for the log
};

[[nodiscard]] NodeVerdict verdict_on(const std::string& node, const std::vector<Finding>& findings);

// `ahead`: the node's clock minus the agent's, give or take `doubt`. A wrong clock is worth a
// warning from 1 s on and never makes a node unfit: training does not depend on it.
[[nodiscard]] std::optional<Finding> judge_clock(std::chrono::milliseconds ahead,
                                                 std::chrono::milliseconds doubt);

}  // namespace dts::launch
