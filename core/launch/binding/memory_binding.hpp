// SPDX-License-Identifier: Apache-2.0
// The memory policy of the calling thread, which its children inherit (set_mempolicy(2),
// get_mempolicy(2), move_pages(2)). Uses system calls, because not every node has libnuma.
#pragma once

#include "core/base/result.hpp"
#include "core/plan/plan.hpp"

#include <sys/types.h>

#include <vector>

namespace dts::launch {

// On a kernel before 5.15, only the first of several preferred nodes is used. Kind::none changes
// nothing. Errc::io if the kernel refuses, because a node is not in the cpuset or a container's
// filter forbids the call.
[[nodiscard]] Result<void> bind_memory(const plan::MemoryPolicy& policy);

// Kind::none for any policy that bind_memory() cannot set, and on a kernel without memory policies.
[[nodiscard]] plan::MemoryPolicy current_memory_policy();

// The NUMA nodes of a sample of the anonymous pages of `pid`, ascending. `maps` is the content of
// its /proc/PID/maps. Empty if we lack the permission.
[[nodiscard]] std::vector<unsigned> nodes_of_pages(pid_t pid, const std::string& maps);

}  // namespace dts::launch
