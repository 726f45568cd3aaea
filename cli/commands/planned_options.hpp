// SPDX-License-Identifier: Apache-2.0
// The options of a planned job, and where each value comes from.
#pragma once

#include "cli/output/plan.hpp"
#include "core/plan/plan.hpp"
#include "core/spec/file/layers.hpp"

#include <vector>

namespace dts::cli {

// The plan's decisions, and requested options that the plan does not cover.
[[nodiscard]] std::vector<PlannedOption> options_of(const plan::Plan& plan,
                                                    const spec::Layer& settings);

}  // namespace dts::cli
