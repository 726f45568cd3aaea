// SPDX-License-Identifier: Apache-2.0
// The pictures of a check's page. Pure, and without floating point in their coordinates.
#pragma once

#include "cli/output/check.hpp"
#include "cli/output/svg.hpp"

#include <string>

namespace dts::cli {

// A matrix of nodes with the speed of each pair; without height if it was not measured.
[[nodiscard]] svg::Drawing link_map(const CheckReport& report, LinkSpeed which);

// The bus bandwidth of one collective operation over its sizes, a bar each.
[[nodiscard]] svg::Drawing collective_bars(const CheckReport& report, const std::string& operation);

// The class of a speed's colour: "s0", the slowest, to "s9".
[[nodiscard]] std::string shade_kind(double speed);

}  // namespace dts::cli
