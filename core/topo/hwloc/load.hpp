// SPDX-License-Identifier: Apache-2.0
// Reads a node's topology with hwloc: this machine, a file or a description.
#pragma once

#include "core/base/result.hpp"
#include "core/topo/topology.hpp"

#include <string>

namespace dts::topo {

// This machine as the calling thread may use it: the cores allowed by the cgroup cpuset and by
// sched_getaffinity(2). GPUs and their NUMA nodes are those of the whole machine, so that a partial
// cpuset never hides a GPU. If there is an NVIDIA GPU and NVML is installed, NVML is queried for at
// most 20 s. hwloc's own variables (HWLOC_XMLFILE, ...) apply. The first call may set environment
// variables: call it before starting threads.
[[nodiscard]] Result<NodeTopology> load_live();

// Reads a file that `lstopo --of xml` (hwloc 2) wrote; `-`: standard input. Errc::not_found,
// Errc::io if it cannot be read, or Errc::invalid if it is not such a file.
[[nodiscard]] Result<NodeTopology> load_xml(const std::string& path);

// Reads hwloc's synthetic description, e.g. "package:2 numa:2 core:8 pu:2".
[[nodiscard]] Result<NodeTopology> load_synthetic(const std::string& text);

}  // namespace dts::topo
