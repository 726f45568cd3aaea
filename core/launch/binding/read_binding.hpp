// SPDX-License-Identifier: Apache-2.0
// Reads a BoundState from the kernel.
#pragma once

#include "core/base/os/environment.hpp"
#include "core/launch/binding/bound_state.hpp"

#include <sys/types.h>

#include <string>
#include <string_view>
#include <vector>

namespace dts::launch {

// The files that may hold the PUs of a process's cpuset, found from the content of its
// /proc/PID/cgroup: first the file of its own control group, then those of the parents. Version 1
// if it has the cpuset controller, otherwise version 2, at the mount points that Slurm and systemd
// use.
[[nodiscard]] std::vector<std::string> cpuset_files(std::string_view proc_cgroup);

// The variable that made a launcher narrow the mask, as "SLURM_CPU_BIND=map_cpu:0"; empty: none.
[[nodiscard]] std::string mask_variable(const Lookup& variable);

// Reads the state of the calling process after it was bound; `inherited` is the mask it had before.
// Takes well under a millisecond.
[[nodiscard]] BoundState read_start_state(std::vector<unsigned> inherited,
                                          std::string memory_error);

// Adds to `state` the threads of `roots` and all their descendants, the OpenMP libraries they have
// loaded, the nodes of their pages if the state's memory policy names nodes, and the calling
// process's current cpuset. Takes a few milliseconds for a hundred threads.
void read_threads(const std::vector<pid_t>& roots, BoundState& state);

}  // namespace dts::launch
