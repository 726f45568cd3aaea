// SPDX-License-Identifier: Apache-2.0
// One node as a value: what a process may use of it, in hwloc's logical order.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace dts::topo {

struct Core {
  unsigned package = 0;          // logical index of its package (socket)
  unsigned numa = 0;             // index of its NUMA node in NodeTopology::numas
  std::optional<unsigned> l3{};  // logical index of its L3; absent: hwloc names none
  std::vector<unsigned>
      pus;            // OS indices of its hardware threads we may run on, ascending, never empty
  unsigned kind = 0;  // hybrid processors: 0 the slowest kind of core, more is faster; else 0
};

// What an adapter speaks; of two that carry as much, the one that is named first here is taken.
enum class Network { infiniband, omni_path, slingshot, efa, ethernet };

enum class Link { unknown, up, down };

// A GPU or a network adapter. Package, NUMA node and L3 are those of the smallest part of the node
// that it hangs from. Absent: it hangs from a larger one, so that the parts of that are all alike
// to it.
struct Device {
  std::string pci;                    // "0000:3b:00.0"
  std::optional<unsigned> package{};  // indices, as Core has them
  std::optional<unsigned> numa{};
  std::optional<unsigned> l3{};
  // The PCI bridges above it, from the host bridge down, by numbers that are unique in the node.
  // Empty: not known.
  std::vector<unsigned> bridges{};
  std::string name{};  // the operating system's or a library's: "nvml0", "mlx5_0"; empty: none
  unsigned part = 0;   // of the device: 1, 2, ... are further GPUs at this address (MI300A in CPX)
  std::string uuid{};  // of a GPU, "GPU-...", as NVML tells it; empty: not known
  std::vector<std::string> instances{};  // UUIDs of a GPU's MIG instances, "MIG-..."
  // Of a network adapter. Speeds are in Gb/s, 0: not known.
  Network network = Network::infiniband;
  Link link = Link::unknown;  // up: at least one of its ports is
  unsigned gbps = 0;          // of its fastest active port, or the most that its model can do
  unsigned pci_gbps = 0;      // of its PCI link, which all functions of one card share
  // Of a GPU: its product as NVML tells it, "NVIDIA A100-SXM4-40GB"; empty: not known.
  std::string model{};
};

using Gpu = Device;
using Nic = Device;  // with OpenFabrics or Slingshot, or of an InfiniBand or Omni-Path PCI class

// Memory, with or without processors of its own.
struct NumaNode {
  unsigned os = 0;                    // as the kernel and numactl(8) count
  std::optional<unsigned> package{};  // absent: outside of every package, or around several
  std::uint64_t bytes = 0;            // 0: unknown
  bool has_cores = true;              // false: a GPU's memory, or HBM behind other processors
  bool has_memory = true;             // false: a die without memory modules of its own
};

// GPUs that are connected without PCI: NVLink, xGMI.
struct GpuLink {
  unsigned a = 0, b = 0;  // indices into NodeTopology::gpus, a < b
  unsigned weight = 0;    // more is faster; comparable within a node only
};

// An active port of an InfiniBand or RoCE adapter.
struct FabricPort {
  std::string hca;          // the kernel's name, "mlx5_0"
  unsigned port = 1;        // as the adapter counts, from 1
  unsigned gbps = 0;        // its own, or its adapter's PCI link where that is slower; 0: unknown
  bool infiniband = false;  // otherwise Ethernet
};

struct NodeTopology {
  std::vector<Core> cores;         // only those with an allowed PU, logical order
  std::vector<Gpu> gpus;           // of GPU vendors, in PCI bus order, partitions of one in theirs
  std::vector<FabricPort> fabric;  // by name and port, mlx5_2 before mlx5_10
  std::vector<Nic> nics{};         // in PCI bus order
  std::vector<NumaNode> numas{};   // in hwloc's logical order, those without memory at the end
  std::vector<GpuLink> links{};    // each pair once, ascending
  std::vector<Core> closed{};      // cores of which no PU is allowed, with all of theirs
  std::vector<std::string> doubts{};  // what the firmware or an override file says that cannot be
  std::vector<std::string> notes{};   // what was left out on purpose, a sentence each
};

// As numactl(8) counts: of `numa`, an index into `node.numas`; itself where that names none.
[[nodiscard]] inline unsigned os_number(const NodeTopology& node, unsigned numa) {
  return numa < node.numas.size() ? node.numas[numa].os : numa;
}

}  // namespace dts::topo
