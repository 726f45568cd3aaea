// SPDX-License-Identifier: Apache-2.0
// Nodes that start a step's tasks later than srun waits for them, as where each node runs the
// site's Prolog at the first process of a step: slurm.conf(5), PrologFlags. The next launch works
// once they are ready.
#pragma once

#include "core/launch/health/node_doubt.hpp"
#include "core/run/ledger/decision.hpp"

#include <chrono>
#include <functional>
#include <string>

namespace dts::launch {

struct SlowNodes {
  bool has_given_up = false;      // the launcher said that it waited in vain
  std::chrono::seconds longest;   // for nodes to become ready
  std::function<bool()> waits{};  // for a moment; false: the job is asked to end
};

// True if the output of srun says of a node of a launch that it did not answer in time. Pure.
[[nodiscard]] bool says_nodes_are_slow(const std::string& errors);

// Asks the nodes of a failed launch what they lack, again and again while they are only slow, and
// returns `outcome` with what they say.
[[nodiscard]] run::Outcome ask_nodes(run::Outcome outcome,
                                     const NodeDoubt& doubt,
                                     const SlowNodes& slow);

}  // namespace dts::launch
