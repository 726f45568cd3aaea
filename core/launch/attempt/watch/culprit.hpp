// SPDX-License-Identifier: Apache-2.0
// Finds the rank to blame when an attempt makes no progress: the rank that the others are most
// likely waiting for, and why. Pure.
#pragma once

#include "core/launch/attempt/state/rank_table.hpp"

#include <optional>
#include <string>

namespace dts::launch {

struct Culprit {
  unsigned rank = 0;
  std::string why;  // "rank 1 on n0 is stopped by a signal"
};

// `first`: the first rank that stopped making progress.
[[nodiscard]] Culprit find_culprit(const RankTable& ranks, unsigned first);

// Judges by the ranks' activity, not by their steps; nullopt: all are equally active.
[[nodiscard]] std::optional<Culprit> inactive_rank(const RankTable& ranks);

}  // namespace dts::launch
