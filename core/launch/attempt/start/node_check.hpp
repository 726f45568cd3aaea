// SPDX-License-Identifier: Apache-2.0
// The pre-flight check of an attempt: judges what each node measured about itself while its ranks
// met, and decides whether programs may start there. No program starts before every node has
// answered or the time is up, so that all faults are reported at once. Pure, not thread-safe.
#pragma once

#include "core/launch/attempt/start/rank_places.hpp"
#include "core/launch/attempt/state/attempt_news.hpp"
#include "core/launch/attempt/state/attempt_settings.hpp"
#include "core/launch/attempt/state/ending.hpp"
#include "core/launch/attempt/state/rank_table.hpp"
#include "core/launch/health/preflight.hpp"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace dts::launch {

class NodeCheck {
 public:
  NodeCheck(const AttemptSettings& settings,
            const AttemptClock& clock,
            RankTable& ranks,
            const RankPlaces& places,
            Ending& ending,
            AttemptNews& news)
      : settings_(settings),
        clock_(clock),
        ranks_(ranks),
        places_(places),
        ending_(ending),
        news_(news) {}

  // If the check is enabled, the first rank of a node measures it.
  void on_hello(unsigned rank, Time now);
  void on_measured(unsigned rank, const Measured& message, Time now);
  void on_clock(unsigned rank, const ClockReading& message, Time now);

  // Call it when everything else is ready. From now on, only the nodes' answers are missing.
  void begin(Time now) { limit_ = now + settings_.spec.preflight; }

  [[nodiscard]] bool all_answered() const;

  [[nodiscard]] bool is_over(Time now) const { return now >= limit_; }

  // True if programs may start; otherwise the attempt ends.
  [[nodiscard]] bool judge(Time now);

 private:
  struct Node {
    Time asked;  // when its clock was queried
    std::optional<NodeFacts> facts{};
    std::optional<Finding> clock{};
    bool clock_known = false;
  };

  [[nodiscard]] Node* of(unsigned rank);  // null: this rank measures nothing
  [[nodiscard]] std::vector<Finding> findings_of(const std::string& node) const;
  [[nodiscard]] Finding too_late() const;
  [[nodiscard]] bool is_the_best_there_is(const std::map<std::string, NodeVerdict>& unfit) const;
  void end_unfit(const std::map<std::string, NodeVerdict>& unfit, Time now);

  const AttemptSettings& settings_;
  const AttemptClock& clock_;
  RankTable& ranks_;
  const RankPlaces& places_;
  Ending& ending_;
  AttemptNews& news_;
  Time limit_ = Time::max();
  std::map<std::string, Node> nodes_;
};

}  // namespace dts::launch
