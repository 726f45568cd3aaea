// SPDX-License-Identifier: Apache-2.0
// The iterations of a `for` loop, if they are certain at conversion. Pure.
#pragma once

#include "core/convert/known/known.hpp"
#include "core/convert/known/node_values.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace dts::convert {

// The variable's name and its values, as shell words.
using Turns = std::pair<std::string, std::vector<std::string>>;

// `command` is a loop of `text`; nullopt if only the job knows.
[[nodiscard]] std::optional<Turns> turns_of(const shell::Command& command,
                                            std::string_view text,
                                            const Known& known,
                                            const NodeValues& nodes);

}  // namespace dts::convert
