// SPDX-License-Identifier: Apache-2.0
// Checks whether a node is up at all by connecting to its slurmd over TCP, without using Slurm's
// protocol.
#pragma once

#include <chrono>
#include <string>
#include <vector>

namespace dts::launch {

// The address at which a node's daemon (slurmd) listens.
struct NodeEndpoint {
  std::string node;
  std::string address;  // NodeAddr: a name or a numeric address; empty: not known
  unsigned port = 0;    // 0: not known
};

// What a probe shows, from the least to the most informative result. The best result of a node's
// addresses counts.
enum class Reach {
  unknown,      // nothing learnt: no address, an unresolved name, no free socket
  unreachable,  // no route, or no answer within the limit, although a live kernel would answer
  refused,      // the host is up, its daemon is not running
  mute,         // the host is up, its daemon accepts the connection and ignores it
  answers,      // the daemon closed the connection after we closed our half
};

struct NodeReach {
  std::string node;
  Reach reach = Reach::unknown;
  std::string detail{};  // if unreachable or unknown, why: "10.0.0.7 port 6818: No route to host"
};

// Probes all nodes in parallel, with one socket per address, and returns one result per node, in
// order, after at most `limit`. That does not include the time to resolve names, which happens
// first. Thread-safe.
[[nodiscard]] std::vector<NodeReach> probe_nodes(const std::vector<NodeEndpoint>& nodes,
                                                 std::chrono::milliseconds limit);

}  // namespace dts::launch
