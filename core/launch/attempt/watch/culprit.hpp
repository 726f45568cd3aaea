// SPDX-License-Identifier: Apache-2.0
// Which rank is to blame when an attempt makes no progress: the one that the others most likely
// wait for, and the reason for that verdict. Pure.
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

// Judged by what ranks do, without their steps; nullopt: they all do the same.
[[nodiscard]] std::optional<Culprit> inactive_rank(const RankTable& ranks);

}  // namespace dts::launch
