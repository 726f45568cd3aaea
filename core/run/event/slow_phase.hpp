// SPDX-License-Identifier: Apache-2.0
// The phase in which a rank can be slower than its peers. Pure.
#pragma once

#include <optional>
#include <string_view>

namespace dts::run {

enum class SlowPhase { compute, input, save };

[[nodiscard]] const char* to_string(SlowPhase phase);
[[nodiscard]] std::optional<SlowPhase> slow_phase_from(std::string_view text);

}  // namespace dts::run
