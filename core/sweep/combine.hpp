// SPDX-License-Identifier: Apache-2.0
// The elements of a sweep from the values of its parameters. Pure, thread-safe.
#pragma once

#include "core/base/result.hpp"
#include "core/sweep/axis.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace dts::sweep {

using Rows = std::vector<std::vector<std::string>>;  // of each element its values

struct Mode {
  std::string name = "grid";  // or "zip", "random"
  std::size_t count = 0;      // of random
  std::uint64_t seed = 0;
};

// "grid", "zip", "random:N" or "random:N:SEED"; empty: grid.
[[nodiscard]] Result<Mode> parse_mode(const std::string& text);

// grid: every combination, the last parameter changing fastest. zip: the first values, the second
// values, ...; a single value goes with all. random: `count` different ones of the grid, or where
// there are intervals independent draws, a function of the seed alone. Errc::invalid also for more
// than k_most_elements.
[[nodiscard]] Result<Rows> combine(const std::vector<Axis>& axes, const Mode& mode);

}  // namespace dts::sweep
