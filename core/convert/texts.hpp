// SPDX-License-Identifier: Apache-2.0
// The texts that shells run: the set-up of a node and the command of a rank, with the values that
// pass from one to the other. Pure.
#pragma once

#include "core/convert/convert.hpp"
#include "core/convert/parts.hpp"

#include <string>
#include <vector>

namespace dts::convert {

// The set-up and, behind it, what it exports of its own variables: those that the program's text,
// `tear_down` or `later` use. `tear_down`: behind the program, or empty.
[[nodiscard]] std::string with_exports(const SetUpText& set_up,
                                       const Program& program,
                                       const SetUpText& tear_down,
                                       const Names& later,
                                       const Options& options);

// The tear-down, which has a shell of its own, in the folder to which the set-up leads, and with
// the arrays and functions of the set-up and the script's arguments that it uses. `used`: names in
// its text.
[[nodiscard]] std::string with_state(const SetUpText& tear_down,
                                     const SetUpText& set_up,
                                     const Names& used,
                                     const Options& options);

// The argv of a rank.
[[nodiscard]] std::vector<std::string> command_of(const Program& program,
                                                  const SetUpText& set_up,
                                                  const Options& options);

// Notes arguments that the script's shell computes once but each rank computes for itself.
void note_what_is_computed(Program& program);

// Variables of the set-up and of the program's text, which the program needs in a container.
[[nodiscard]] Names handed_on(const Program& program, const SetUpText& set_up);

// For people: "python3 train.py", or the first line of TEXT in bash -c TEXT.
[[nodiscard]] std::string shell_text_of(const std::vector<std::string>& command);

}  // namespace dts::convert
