// SPDX-License-Identifier: Apache-2.0
// Nodes from which no rank has said hello. A slow file system, or pulling a container image, can
// keep a healthy node silent for minutes, whereas a node that is down stays silent. Probing the
// node shows which it is. Pure, not thread-safe.
#pragma once

#include "core/launch/attempt/state/attempt_news.hpp"
#include "core/launch/attempt/state/attempt_settings.hpp"
#include "core/launch/attempt/state/ending.hpp"
#include "core/launch/attempt/state/rank_table.hpp"
#include "core/launch/health/node_probe.hpp"

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace dts::launch {

class SilentNodes {
 public:
  SilentNodes(const AttemptSettings& settings,
              const RankTable& ranks,
              Ending& ending,
              AttemptNews& news,
              Time now)
      : settings_(settings), ranks_(ranks), ending_(ending), news_(news), next_poll_(now) {}

  // These functions have an effect only while ranks are missing.
  void on_tick(Time now);
  void on_probed(const std::vector<NodeReach>& probed, Time now);
  void on_unable(std::vector<run::UnfitNode> unable, Time now);

  // Like Ending::end(), but if nodes are silent, it first has them probed, because one of them may
  // be the cause.
  void end_unless_a_node_is_down(run::Outcome outcome, Time now);

  // True if an end is waiting for this probe.
  [[nodiscard]] bool has_doubt() const { return doubt_.has_value(); }

  void end_with_suspected(Time now);

  [[nodiscard]] std::string describe() const;  // "; of n1: up, and its slurmd answers"

  // See Attempt::take_silent_nodes() and take_mute_nodes().
  [[nodiscard]] std::vector<std::string> take_silent() { return std::exchange(silent_, {}); }

  [[nodiscard]] std::vector<std::string> take_mute() { return std::exchange(mute_, {}); }

 private:
  // The silent nodes; empty if the job's nodes are not known.
  [[nodiscard]] std::vector<std::string> nodes() const;
  void judge(const std::vector<NodeReach>& probed,
             const std::vector<std::string>& silent,
             Time now);

  const AttemptSettings& settings_;
  const RankTable& ranks_;
  Ending& ending_;
  AttemptNews& news_;
  Time next_poll_;
  std::vector<std::string> silent_;
  std::vector<std::string> mute_;
  bool asked_ = false;
  std::map<std::string, Reach> last_reach_;
  std::optional<run::Outcome> doubt_;  // how the attempt ends unless a silent node is the cause
  Time doubt_until_;
};

}  // namespace dts::launch
