// SPDX-License-Identifier: Apache-2.0
// Which nodes of a job cannot run a rank at all: those without dtsubmit, or without the run
// directory (a share that is not mounted), or where nothing can be written to TMPDIR, and those
// whose slurmd starts no task. Such a node cannot report to the agent, so after a failed launch
// that names no node, one step runs a shell on each.
#pragma once

#include "core/base/result.hpp"
#include "core/run/ledger/decision.hpp"

#include <chrono>
#include <optional>
#include <string>
#include <vector>

namespace dts::launch {

struct NodeDoubt {
  std::vector<std::string> nodes;       // nodes of the job, by Slurm's names
  std::string dtsubmit;                 // the program that ranks run
  std::string file;                     // the first file that the ranks read
  std::optional<unsigned> component{};  // that the nodes belong to, in a heterogeneous job
  std::chrono::seconds lag{1};          // for which a healthy node may not see the file yet
};

// Returns the nodes that report a problem, in their order; blocks for at most `limit`. Errors: srun
// is missing; it gave up on nodes that did not answer (Errc::unreachable); the step did not end
// within the limit, for whatever reason (Errc::timed_out).
[[nodiscard]] Result<std::vector<run::UnfitNode>> unable_nodes(const NodeDoubt& doubt,
                                                               std::chrono::milliseconds limit);

// Parses the output of such a step, one line per node: "n1 cannot read /runs/a". Ignores lines that
// name none of `nodes`. Pure.
[[nodiscard]] std::vector<run::UnfitNode> parse_unable(const std::string& output,
                                                       const std::vector<std::string>& nodes);

// Parses what srun says of nodes that refused such a step: "srun: error: Task launch for StepId=7.1
// failed on node n1: Job credential expired". Omits those that were only too slow, which may still
// run their Prolog. Pure.
[[nodiscard]] std::vector<run::UnfitNode> parse_refusals(const std::string& errors,
                                                         const std::vector<std::string>& nodes);

// True if srun says of a node that it did not answer in time. Pure.
[[nodiscard]] bool says_nodes_are_slow(const std::string& errors);

// Adds the unable nodes to `outcome`, a failed launch or a rank that vanished during one, unless
// all nodes are unable, in which case no single node is at fault. Pure.
[[nodiscard]] run::Outcome without_unable(run::Outcome outcome,
                                          std::vector<run::UnfitNode> unable,
                                          std::size_t nodes);

}  // namespace dts::launch
