// SPDX-License-Identifier: Apache-2.0
// Programs that only a shell can run, with conditions, functions or several commands. Their text is
// kept, without the launchers in it. Pure.
#pragma once

#include "core/convert/program/program.hpp"

#include <cstdint>
#include <string>

namespace dts::convert {

inline constexpr const char* k_own_nodes =
    "srun --nodelist, --relative: dtsubmit has no counterpart for a single step: it runs on the "
    "first of the "
    "job's nodes; programs on nodes of their own are [[roles]]";

// Of programs in the background of a job on `nodes`: what to do about them, for people.
[[nodiscard]] std::string side_by_side(std::uint64_t nodes);

[[nodiscard]] Program shell_program(const Item& item, const ProgramContext& context);

// The script without the options of torchrun and the like that dtsubmit sets.
[[nodiscard]] std::string without_told(const std::string& text,
                                       const Facts& facts,
                                       Program& program);

// Settings of a further launcher in the program's text; those that differ are lost, because the
// text is started once.
void add_layout(const Settings& settings, const lint::Job& job, Program& program);

// Puts the definitions that the program's text calls in front of it.
void add_functions(const Program& functions, const lint::Job& job, Program& program);

// If deepspeed, words[at], would start processes on other nodes by itself: torchrun in its place.
void replace_deepspeed(std::vector<FlatWord>& words,
                       std::size_t at,
                       const Told& told,
                       Program& program);

// Notes one line for all of them.
void add_told(Told& told, Program& program);

}  // namespace dts::convert
