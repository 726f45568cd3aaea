// SPDX-License-Identifier: Apache-2.0
// The pictures on the page of a check. Pure, with integer coordinates only.
#pragma once

#include "cli/output/check.hpp"
#include "cli/output/svg.hpp"

#include <string>

namespace dts::cli {

// A matrix of nodes with the speed of each pair; its height is 0 if this was not measured.
[[nodiscard]] svg::Drawing link_map(const CheckReport& report, LinkSpeed which);

// The bus bandwidth of one collective operation by size, one bar each.
[[nodiscard]] svg::Drawing collective_bars(const CheckReport& report, const std::string& operation);

// The CSS class for a speed: from "s0", the slowest, to "s9".
[[nodiscard]] std::string shade_kind(double speed);

}  // namespace dts::cli
