// SPDX-License-Identifier: Apache-2.0
// Programs that only a shell can run, with conditions, functions or several commands. Their text is
// kept, without the launchers in it. Pure.
#pragma once

#include "core/convert/program/program.hpp"

#include <string>

namespace dts::convert {

inline constexpr const char* k_side_by_side =
    "programs in the background: write each as one of [[roles]]";

[[nodiscard]] Program shell_program(const Item& item, const ProgramContext& context);

// The script without the options of torchrun and the like that dtsubmit sets.
[[nodiscard]] std::string without_told(const std::string& text,
                                       const Facts& facts,
                                       Program& program);

// Settings of a further launcher in the program's text; those that differ are lost, because the
// text is started once.
void add_layout(const Settings& settings, const lint::Job& job, Program& program);

// Notes one line for all of them.
void add_told(Told& told, Program& program);

}  // namespace dts::convert
