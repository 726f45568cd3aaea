// SPDX-License-Identifier: Apache-2.0
// The checks of a node before programs start there, and their consequences. Only what training
// cannot do without makes a node unfit; the rest is reported as a warning. Pure, thread-safe.
//
// The GPU's limits are those of NVIDIA's DCGM health checks (docs.nvidia.com/datacenter/dcgm,
// "Health Monitoring"): uncorrectable errors since the driver was loaded and a failed row remapping
// need the node's administrator, a pending one only a reset.
#pragma once

#include "core/base/result.hpp"

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace dts::launch {

// One GPU as NVML (nvml.h) shows it. Absent: the GPU does not say.
struct GpuFacts {
  std::string pci;  // "00000000:3B:00.0"; its index where even that is not known
  bool lost = false;
  std::optional<std::uint64_t> uncorrected{};  // ECC errors since the driver was loaded
  bool retirement_pending = false;             // a page or row is to be replaced at the next reset
  bool remap_failed = false;
  std::uint64_t throttling = 0;  // nvmlClocksThrottleReasons
  unsigned instances = 1;        // that it can be at the most, in MIG mode
};

// A node's measurements of itself, made by measure_node().
struct NodeFacts {
  int write_errno = 0;                      // of a file written, synced and removed
  std::optional<std::uint64_t> run_free{};  // bytes, in the run directory
  std::optional<std::uint64_t> memory{};    // bytes, MemAvailable of proc(5)
  int shm_errno = 0;                        // of /dev/shm
  std::optional<std::uint64_t> shm_free{};  // bytes
  int loopback_errno = 0;                   // of a connection to itself, at 127.0.0.1 or ::1
  std::string no_nvml{};                    // why NVML was not asked; empty: `gpus` is its answer
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
  std::optional<std::uint64_t> memory_mib;   // --mem; 0 is all of it
  std::optional<std::size_t> pci_gpus = {};  // on its PCI buses, where that is known
};

enum class Severity { note, warning, unfit };

struct Finding {
  Severity severity = Severity::warning;
  bool disk = false;  // no space or quota left in the run directory: of the user, not of the node
  std::string text;   // what was measured, the limit, and what to do
};

[[nodiscard]] std::vector<Finding> judge(const NodeFacts& facts, const NodeDemand& demand);

// The conclusion from the findings of one node.
struct NodeVerdict {
  std::string unfit;  // why it is, "; " between reasons; empty: it is not
  bool disk = true;   // no reason but the run directory's disk
  bool warned = false;
  std::vector<std::string> notes;  // the other findings, in words for the log
};

[[nodiscard]] NodeVerdict verdict_on(const std::string& node, const std::vector<Finding>& findings);

// `ahead`: the node's clock minus the agent's, certain to `doubt` on both sides. A wrong clock is
// worth a warning from 1 s on and never makes a node unfit: training orders nothing by it.
[[nodiscard]] std::optional<Finding> judge_clock(std::chrono::milliseconds ahead,
                                                 std::chrono::milliseconds doubt);

}  // namespace dts::launch
