// SPDX-License-Identifier: Apache-2.0
// Combines the values of the parameters into the elements of a sweep. Pure, thread-safe.
#pragma once

#include "core/base/result.hpp"
#include "core/sweep/axis.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace dts::sweep {

using Rows = std::vector<std::vector<std::string>>;  // values by element

struct Mode {
  std::string name = "grid";  // or "zip", "random"
  std::size_t count = 0;      // random only
  std::uint64_t seed = 0;
};

// "grid", "zip", "random:N" or "random:N:SEED"; empty: grid.
[[nodiscard]] Result<Mode> parse_mode(const std::string& text);

// grid: every combination, the last parameter changing fastest. zip: the first values, the second
// values, ...; a single value is used in all of them. random: `count` distinct combinations of the
// grid, or independent draws if there are intervals; depends on the seed alone. Errc::invalid also
// for more than k_most_elements.
[[nodiscard]] Result<Rows> combine(const std::vector<Axis>& axes, const Mode& mode);

}  // namespace dts::sweep
