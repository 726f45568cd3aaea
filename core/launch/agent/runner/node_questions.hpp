// SPDX-License-Identifier: Apache-2.0
// Questions to nodes that are silent, asked on threads of their own: an answer takes a while, and
// the agent's end must not wait for it.
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

  // Asks what the attempt wants to know, and gives it the answers that have come.
  void ask() {
    look_at_silent();
    ask_mute();
  }

 private:
  void look_at_silent();
  void ask_mute();

  const RunnerSettings& settings_;
  Attempt& attempt_;
  const SchedulerNews& scheduler_;
  DetachedCall<std::vector<NodeSight>> sights_;               // of a look that is under way
  DetachedCall<Result<std::vector<run::UnfitNode>>> unable_;  // likewise, of a question
};

}  // namespace dts::launch
