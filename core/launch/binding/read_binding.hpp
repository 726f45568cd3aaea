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

// The files that may hold the PUs of the cpuset of a process, by its /proc/PID/cgroup: first that
// of its own control group, then those of its parents. Version 1 if it has the cpuset controller,
// otherwise version 2, as Slurm and systemd mount them.
[[nodiscard]] std::vector<std::string> cpuset_files(std::string_view proc_cgroup);

// The variable that made a launcher narrow masks, "SLURM_CPU_BIND=map_cpu:0"; empty: none.
[[nodiscard]] std::string mask_variable(const Lookup& variable);

// Reads the calling process after binding; `inherited` is its mask before that. Takes well under a
// millisecond.
[[nodiscard]] BoundState read_start_state(std::vector<unsigned> inherited,
                                          std::string memory_error);

// Adds the threads of `roots` and all their descendants, the libraries they have loaded, where
// their pages are if the state's memory policy names nodes, and the calling process's cpuset. A few
// milliseconds for a hundred threads.
void read_threads(const std::vector<pid_t>& roots, BoundState& state);

}  // namespace dts::launch
