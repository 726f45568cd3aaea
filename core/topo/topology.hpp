// SPDX-License-Identifier: Apache-2.0
// One node as a value: the parts that a process may use, in hwloc's logical order.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace dts::topo {

struct Core {
  unsigned package = 0;          // logical index of its package (socket)
  unsigned numa = 0;             // index of its NUMA node in NodeTopology::numas
  std::optional<unsigned> l3{};  // logical index of its L3; absent: hwloc reports none
  std::vector<unsigned> pus;  // OS indices of its usable hardware threads, ascending, never empty
  unsigned kind = 0;          // on hybrid processors, 0 is the slowest, more is faster; otherwise 0
};

// The network that an adapter speaks. Of two networks with equal bandwidth, the first in this list
// is preferred.
enum class Network { infiniband, omni_path, slingshot, efa, ethernet };

enum class Link { unknown, up, down };

// A GPU or a network adapter. Package, NUMA node and L3 are those of the smallest part of the node
// that it is attached to. Absent: it is attached to a larger part, all subparts of which are
// equally near.
struct Device {
  std::string pci;                    // "0000:3b:00.0"
  std::optional<unsigned> package{};  // indices as in Core
  std::optional<unsigned> numa{};
  std::optional<unsigned> l3{};
  // The PCI bridges above it, from the host bridge down, by numbers that are unique in the node.
  // Empty: unknown.
  std::vector<unsigned> bridges{};
  std::string name{};  // the OS's or a library's name: "nvml0", "mlx5_0"; empty: none
  unsigned part = 0;   // 1, 2, ...: further GPUs at the same PCI address (MI300A in CPX)
  std::string uuid{};  // of a GPU, "GPU-...", from NVML; empty: unknown
  std::vector<std::string> instances{};  // UUIDs of a GPU's MIG instances, "MIG-..."
  // For a network adapter. Speeds are in Gb/s, 0: unknown.
  Network network = Network::infiniband;
  Link link = Link::unknown;  // up: at least one of its ports is
  unsigned gbps = 0;          // speed of its fastest active port, or the model's maximum
  unsigned pci_gbps = 0;      // speed of its PCI link, which all functions of a card share
  // For a GPU: its product name from NVML, "NVIDIA A100-SXM4-40GB"; empty: unknown.
  std::string model{};
  // The NUMA nodes that it is attached to if these are several, but neither a whole package nor the
  // whole node: a board with two of eight packages. Indices, ascending; otherwise empty.
  std::vector<unsigned> group{};
};

using Gpu = Device;
using Nic = Device;  // has OpenFabrics, is Slingshot, or has an InfiniBand or Omni-Path PCI class

// Memory, which may have processors of its own.
struct NumaNode {
  unsigned os = 0;                    // the kernel's and numactl(8)'s number
  std::optional<unsigned> package{};  // absent: outside of all packages, or in several
  std::uint64_t bytes = 0;            // 0: unknown
  bool has_cores = true;              // false: a GPU's memory, or HBM close to other processors
  bool has_memory = true;             // false: a die without memory modules of its own
};

// A connection between GPUs other than PCI: NVLink or xGMI.
struct GpuLink {
  unsigned a = 0, b = 0;  // indices into NodeTopology::gpus, a < b
  unsigned weight = 0;    // more is faster; comparable within a node only
};

// An active port of an InfiniBand or RoCE adapter.
struct FabricPort {
  std::string hca;          // the kernel's name, "mlx5_0"
  unsigned port = 1;        // the adapter's number, from 1
  unsigned gbps = 0;        // its own speed, or its adapter's PCI link's if slower; 0: unknown
  bool infiniband = false;  // otherwise Ethernet
};

struct NodeTopology {
  std::vector<Core> cores;            // only those with an allowed PU, logical order
  std::vector<Gpu> gpus;              // of GPU vendors, in PCI bus order, then by partition
  std::vector<FabricPort> fabric;     // by name and port, mlx5_2 before mlx5_10
  std::vector<Nic> nics{};            // in PCI bus order
  std::vector<NumaNode> numas{};      // in hwloc's logical order, memoryless ones last
  std::vector<GpuLink> links{};       // ascending, each pair once
  std::vector<Core> closed{};         // cores without an allowed PU, with all of their PUs
  std::vector<std::string> doubts{};  // implausible data from the firmware or an override file
  std::vector<std::string> notes{};   // what was omitted on purpose, one sentence each
};

// numactl(8)'s number of the NUMA node with index `numa`; `numa` itself if it is out of range.
[[nodiscard]] inline unsigned os_number(const NodeTopology& node, unsigned numa) {
  return numa < node.numas.size() ? node.numas[numa].os : numa;
}

// The same for several, ascending.
[[nodiscard]] inline std::vector<unsigned> os_numbers(const NodeTopology& node,
                                                      const std::vector<unsigned>& numas) {
  std::vector<unsigned> numbers;
  for (const unsigned numa : numas) numbers.push_back(os_number(node, numa));
  std::sort(numbers.begin(), numbers.end());
  return numbers;
}

}  // namespace dts::topo
