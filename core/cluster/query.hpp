// SPDX-License-Identifier: Apache-2.0
// Queries a cluster's controller with Slurm's own command-line tools.
#pragma once

#include "core/base/result.hpp"
#include "core/cluster/daemons.hpp"

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

namespace dts::cluster {

// Long enough for a healthy controller.
constexpr std::chrono::seconds k_answer_limit(5);

struct NodeState {
  std::string name;
  std::string state;  // sinfo(1), %T: "idle", "mixed", "down*", ...
};

struct QueuedJob {
  std::string state;               // squeue(1), %T: "RUNNING", "PENDING", ...
  std::vector<std::string> nodes;  // empty while pending
};

// True if the controller's address accepts connections at this port.
[[nodiscard]] bool listens(const Endpoints& endpoints, std::uint16_t port);

// Errc::unreachable if there is no answer within `limit`.
[[nodiscard]] Result<std::vector<NodeState>> node_states(const Programs& programs,
                                                         const std::string& folder,
                                                         std::chrono::milliseconds limit);
[[nodiscard]] Result<std::vector<QueuedJob>> queued_jobs(const Programs& programs,
                                                         const std::string& folder,
                                                         std::chrono::milliseconds limit);

}  // namespace dts::cluster
