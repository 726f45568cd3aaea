// SPDX-License-Identifier: Apache-2.0
// Nodes that are one machine: those of a private cluster.
#pragma once

#include "core/plan/plan.hpp"

#include <string_view>

namespace dts::launch {

// Open MPI 6 connects no process to an address of its own machine (btl/tcp: "unable to find
// reachable pairing"; measured on 6.0.0rc2, where no setting of btl/tcp changes it). If the job's
// nodes are one machine, since the master's address on several nodes is a loopback address, adds
// the variables with which its processes use UCX instead, except those that `is_set`.
// `open_mpi`: its release, "6.0.0rc2"; empty: another MPI. Pure.
void join_one_machine(plan::Environment& variables,
                      std::string_view open_mpi,
                      const plan::IsSet& is_set);

}  // namespace dts::launch
