// SPDX-License-Identifier: Apache-2.0
// plan.json and placement.json. Pure, thread-safe; the same value always gives the same bytes.
#pragma once

#include "core/base/result.hpp"
#include "core/plan/plan.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace dts::plan {

// Indented, ends in a newline, with "schema": "dtsubmit/plan/1". Times in seconds.
[[nodiscard]] std::string to_json(const Plan& plan);

// The inverse of to_json(), for the agent. Errc::invalid for another schema, a missing key or a
// wrong type.
[[nodiscard]] Result<Plan> plan_from_json(std::string_view text);

// Indented, ends in a newline, with "schema": "dtsubmit/placement/1", one line per rank.
[[nodiscard]] std::string to_json(const std::vector<Placement>& placements);

}  // namespace dts::plan
