// SPDX-License-Identifier: Apache-2.0
// Conditions of `if`, && and || with a certain outcome at conversion. Pure.
#pragma once

#include "core/convert/known/known.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace dts::convert {

// Whether it succeeds; nullopt if only the job knows. Understands [ ], test, [[ ]], (( )), true,
// false, !, && and ||; tests of files are left to the job.
[[nodiscard]] std::optional<bool> outcome_of(const shell::Statements& condition,
                                             const Known& known);
[[nodiscard]] std::optional<bool> outcome_of(const shell::Pipeline& pipeline, const Known& known);

// The index of the body that `case` runs, bodies.size() if none; nullopt if only the job knows, or
// if the body falls through to the next.
[[nodiscard]] std::optional<std::size_t> choice_of(const shell::Command& choice,
                                                   const Known& known);

// "IMAGE is not set, NODES is 2": the values of the text's variables, for people.
[[nodiscard]] std::string facts_of(std::string_view text, const Known& known);

}  // namespace dts::convert
