// SPDX-License-Identifier: Apache-2.0
// Conditions of `if`, && and || whose outcome is certain when the script is converted. Pure.
#pragma once

#include "core/convert/expand/known.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace dts::convert {

// Whether it succeeds; nullopt: only the job knows. Understands [ ], test, [[ ]], (( )), true,
// false, !, && and ||; files are the job's.
[[nodiscard]] std::optional<bool> outcome_of(const shell::Statements& condition,
                                             const Known& known);
[[nodiscard]] std::optional<bool> outcome_of(const shell::Pipeline& pipeline, const Known& known);

// The place of the body that `case` runs, bodies.size() if none; nullopt: only the job knows, or
// it goes on with another one.
[[nodiscard]] std::optional<std::size_t> choice_of(const shell::Command& choice,
                                                   const Known& known);

// "IMAGE is not set, NODES is 2": what the text's variables hold, for people.
[[nodiscard]] std::string facts_of(std::string_view text, const Known& known);

}  // namespace dts::convert
