// SPDX-License-Identifier: Apache-2.0
// How far a core is from a GPU, and a GPU from a network adapter. Pure.
#pragma once

#include "core/topo/topology.hpp"

namespace dts::topo {

inline constexpr unsigned k_same_numa = 1;
inline constexpr unsigned k_same_package = 2;
inline constexpr unsigned k_other_package = 3;

// 0 if the core is in the part of the node that the device is attached to, otherwise one of the
// above. Only the order matters; on a two-socket node, the steps roughly match the transfer rates
// to and from the GPU.
[[nodiscard]] unsigned distance(const Core& core, const Device& device);

// NCCL's classes of paths between PCI devices (NVIDIA's documentation of NCCL_NET_GDR_LEVEL), and
// one of our own: what NCCL and nvidia-smi call SYS is much shorter within one socket than between
// two.
enum class Path {
  pix,   // through at most one switch
  pxb,   // through several switches, but not the host bridge
  phb,   // through the host bridge
  node,  // over the interconnect between host bridges of one NUMA node
  pkg,   // over the interconnect between NUMA nodes of one package
  sys    // over the interconnect between packages
};

[[nodiscard]] Path path(const Device& a, const Device& b);
[[nodiscard]] const char* to_string(Path path);

}  // namespace dts::topo
