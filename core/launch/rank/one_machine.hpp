// SPDX-License-Identifier: Apache-2.0
// Settings for nodes that are in fact one machine, as in a private cluster.
#pragma once

#include "core/plan/plan.hpp"

#include <string_view>

namespace dts::launch {

// Open MPI 6 cannot connect a process to an address of its own machine (btl/tcp: "unable to find
// reachable pairing"; measured on 6.0.0rc2, where no setting of btl/tcp changes it). If the
// master's address on several nodes is a loopback address, the nodes are one machine. Then this
// adds the variables that make the processes use UCX instead, except variables that `is_set`.
// `open_mpi`: the release of Open MPI, "6.0.0rc2"; empty: another MPI. Pure.
void join_one_machine(plan::Environment& variables,
                      std::string_view open_mpi,
                      const plan::IsSet& is_set);

}  // namespace dts::launch
