// SPDX-License-Identifier: Apache-2.0
// Nodes that start a step's tasks later than srun waits for them, as where each node runs the
// site's Prolog at the first process of a step: slurm.conf(5), PrologFlags. The next launch works
// once they are ready.
#pragma once

#include "core/base/result.hpp"
#include "core/launch/health/node_doubt.hpp"
#include "core/run/ledger/decision.hpp"

#include <chrono>
#include <functional>
#include <string>
#include <vector>

namespace dts::launch {

// Waits for that long; false: the job is asked to end.
using Wait = std::function<bool(std::chrono::milliseconds)>;

// Like unable_nodes(), for a few seconds.
using NodeQuestion = std::function<Result<std::vector<run::UnfitNode>>()>;

struct SlowNodes {
  bool has_given_up = false;     // the launcher said that it waited in vain
  std::chrono::seconds longest;  // for nodes to become ready
  Wait waits{};
  std::function<void(const std::string&)> tell{};  // once, when the wait begins
};

// unable_nodes() on a thread of its own, and meanwhile `waits`. Errc::interrupted: the job is asked
// to end.
[[nodiscard]] NodeQuestion question_of(NodeDoubt doubt, Wait waits);

// Asks the nodes of a failed launch, of which there are `nodes`, what they lack, again and again
// while srun says that they are only slow, and returns `outcome` with what they say.
[[nodiscard]] run::Outcome ask_nodes(run::Outcome outcome,
                                     std::size_t nodes,
                                     const NodeQuestion& ask,
                                     const SlowNodes& slow);

}  // namespace dts::launch
