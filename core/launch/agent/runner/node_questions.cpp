// SPDX-License-Identifier: Apache-2.0
#include "core/launch/agent/runner/node_questions.hpp"

#include "core/base/os/log.hpp"
#include "core/launch/health/node_doubt.hpp"

#include <chrono>

namespace dts::launch {
namespace {

constexpr std::chrono::milliseconds k_look_limit{
    1500};                                          // a lost SYN is sent again after 1 s (RFC 6298)
constexpr std::chrono::seconds k_answer_limit{20};  // for a step that runs a shell
constexpr std::chrono::seconds k_lag{8};            // see NodeDoubt

}  // namespace

// On a thread of its own, because a name server can be slow, too.
void NodeQuestions::look_at_silent() {
  if (auto probed = reaches_.take()) attempt_.on_probed(*std::move(probed), Time::clock::now());
  if (reaches_.is_pending()) return;
  auto endpoints = scheduler_.endpoints(attempt_.take_silent_nodes());
  if (endpoints.empty()) return;
  reaches_.start(
      [endpoints = std::move(endpoints)] { return probe_nodes(endpoints, k_look_limit); });
}

// On a thread of its own, because it can take long to start a step on such a node.
void NodeQuestions::probe_mute_nodes() {
  if (auto unable = unable_.take()) {
    if (!*unable) log("cannot find out what silent nodes lack: {}", unable->error().message);
    if (*unable) attempt_.on_unable(**std::move(unable), Time::clock::now());
  }
  if (unable_.is_pending()) return;
  const std::vector<std::string> nodes = attempt_.take_mute_nodes();
  if (nodes.empty() || settings_.local) return;
  const NodeDoubt doubt{nodes,
                        settings_.dtsubmit,
                        settings_.attempt.folder() + "/channel.json",
                        settings_.attempt.plan.component,
                        k_lag};
  unable_.start([doubt] { return unable_nodes(doubt, k_answer_limit); });
}

}  // namespace dts::launch
