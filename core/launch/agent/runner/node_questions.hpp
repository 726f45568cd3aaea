// SPDX-License-Identifier: Apache-2.0
// Probes of silent nodes. They run on threads of their own, because an answer takes a while, and
// the agent must be able to end without it.
#pragma once

#include "core/base/os/detached_call.hpp"
#include "core/launch/agent/runner/runner_settings.hpp"
#include "core/launch/agent/runner/scheduler_news.hpp"
#include "core/launch/health/node_probe.hpp"

#include <vector>

namespace dts::launch {

class NodeQuestions {
 public:
  NodeQuestions(const RunnerSettings& settings, Attempt& attempt, const SchedulerNews& scheduler)
      : settings_(settings), attempt_(attempt), scheduler_(scheduler) {}

  // Starts the probes that the attempt requests, and passes on the answers that have arrived.
  void ask() {
    look_at_silent();
    probe_mute_nodes();
  }

 private:
  void look_at_silent();
  void probe_mute_nodes();

  const RunnerSettings& settings_;
  Attempt& attempt_;
  const SchedulerNews& scheduler_;
  DetachedCall<std::vector<NodeReach>> reaches_;              // the running probe, if any
  DetachedCall<Result<std::vector<run::UnfitNode>>> unable_;  // the running step, if any
};

}  // namespace dts::launch
