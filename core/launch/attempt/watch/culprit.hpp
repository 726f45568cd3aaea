// SPDX-License-Identifier: Apache-2.0
// Whose fault it is that an attempt makes no progress: the rank that the others most likely wait
// for, and why it is thought so. Pure.
#pragma once

#include "core/launch/attempt/state/rank_table.hpp"

#include <optional>
#include <string>

namespace dts::launch {

struct Culprit {
  unsigned rank = 0;
  std::string why;  // "rank 1 on n0 is stopped by a signal"
};

// `first`: the rank that was the first to make no progress.
[[nodiscard]] Culprit find_culprit(const RankTable& ranks, unsigned first);

// By what ranks do, without their steps; nullopt: they all do the same.
[[nodiscard]] std::optional<Culprit> inactive_rank(const RankTable& ranks);

}  // namespace dts::launch
