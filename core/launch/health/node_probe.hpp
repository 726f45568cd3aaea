// SPDX-License-Identifier: Apache-2.0
// Checks whether a node is up at all: connects to its kernel and its slurmd over TCP, without using
// Slurm's protocol.
#pragma once

#include <chrono>
#include <string>
#include <vector>

namespace dts::launch {

// Where a node's daemon (slurmd) listens.
struct NodeEndpoint {
  std::string node;
  std::string address;  // NodeAddr: a name or a number; empty: not known
  unsigned port = 0;    // 0: not known
};

// From the least informative to the best result; the best of a node's addresses counts.
enum class Reach {
  unknown,      // nothing was learnt: no address, an unresolved name, no socket left
  unreachable,  // no route, or no answer within the limit, which a live kernel would have given
  refused,      // the host is up, its daemon is not
  mute,         // the host is up, its daemon accepts the connection and ignores it
  answers,      // the daemon closed the connection after we closed our half
};

struct NodeSight {
  std::string node;
  Reach reach = Reach::unknown;
  std::string detail{};  // if unreachable or unknown: "10.0.0.7 port 6818: No route to host"
};

// Probes all nodes in parallel, with a socket for each address, and returns one result per node, in
// order, after `limit` at most. Names are resolved first, which the limit does not cover.
// Thread-safe.
[[nodiscard]] std::vector<NodeSight> probe_nodes(const std::vector<NodeEndpoint>& nodes,
                                                 std::chrono::milliseconds limit);

}  // namespace dts::launch
