// SPDX-License-Identifier: Apache-2.0
// Nodes that no rank has arrived from. A slow file system or the pull of a container image keeps a
// healthy node silent for minutes, a node that is down stays silent for ever: the node itself is
// asked which one it is. Pure, not thread-safe.
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
      : settings_(settings), ranks_(ranks), ending_(ending), news_(news), next_look_(now) {}

  // These functions apply only while ranks are missing.
  void on_tick(Time now);
  void on_sights(const std::vector<NodeSight>& sights, Time now);
  void on_unable(std::vector<run::UnfitNode> unable, Time now);

  // Ending::end(), but while nodes are silent only after a look at them: one of them may be the
  // cause.
  void end_unless_a_node_is_down(run::Outcome outcome, Time now);

  // An end is waiting for such a look.
  [[nodiscard]] bool has_doubt() const { return doubt_.has_value(); }

  void end_in_doubt(Time now);

  [[nodiscard]] std::string describe() const;  // "; of n1: up, and its slurmd answers"

  // See Attempt::take_silent_nodes() and take_mute_nodes().
  [[nodiscard]] std::vector<std::string> take_to_look_at() {
    return std::exchange(to_look_at_, {});
  }

  [[nodiscard]] std::vector<std::string> take_to_ask() { return std::exchange(to_ask_, {}); }

 private:
  // Empty if the nodes are not known.
  [[nodiscard]] std::vector<std::string> nodes() const;
  void judge(const std::vector<NodeSight>& sights,
             const std::vector<std::string>& silent,
             Time now);

  const AttemptSettings& settings_;
  const RankTable& ranks_;
  Ending& ending_;
  AttemptNews& news_;
  Time next_look_;
  std::vector<std::string> to_look_at_;
  std::vector<std::string> to_ask_;
  bool asked_ = false;
  std::map<std::string, Reach> last_sight_;
  std::optional<run::Outcome> doubt_;  // the end if no silent node turns out to be the cause
  Time doubt_until_;
};

}  // namespace dts::launch
