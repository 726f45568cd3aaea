// SPDX-License-Identifier: Apache-2.0
#include "core/run/summary/node_at_fault.hpp"

#include "core/run/summary/explain.hpp"

namespace dts::run {
namespace {

bool names_loopback(const std::string& words) {
  return words.find("localhost") != words.npos || words.find("127.0.0.1") != words.npos;
}

bool missed_others(const RunDirectory& run, unsigned attempt, unsigned rank) {
  const auto found = evidence_of_rank(run, attempt, rank);
  return found && found->cause == Cause::rendezvous;
}

// True if a rank on another node than `node` did not find the others either.
bool is_shared(const RunDirectory& run,
               unsigned attempt,
               const std::vector<std::string>& rank_nodes,
               const std::string& node) {
  unsigned left = 256;
  for (unsigned rank = 0; rank < rank_nodes.size() && left > 0; ++rank) {
    if (rank_nodes[rank] == node) continue;
    if (missed_others(run, attempt, rank)) return true;
    --left;
  }
  return false;
}

}  // namespace

std::string node_at_fault(const Outcome& outcome,
                          const RunDirectory& run,
                          unsigned attempt,
                          const std::vector<std::string>& rank_nodes) {
  const bool is_known = outcome.rank && *outcome.rank < rank_nodes.size();
  if (!is_known) return outcome.node;
  const std::string node = outcome.node.empty() ? rank_nodes[*outcome.rank] : outcome.node;
  const bool is_of_ranks =
      outcome.cause == Cause::rendezvous && !says_port_is_taken(outcome.detail) &&
      (names_loopback(outcome.detail) || !missed_others(run, attempt, *outcome.rank) ||
       is_shared(run, attempt, rank_nodes, node));
  return is_of_ranks ? "" : node;
}

}  // namespace dts::run
