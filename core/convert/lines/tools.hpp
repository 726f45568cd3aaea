// SPDX-License-Identifier: Apache-2.0
// Commands that prepare a job or clean up after it, and those that do its work. Pure.
#pragma once

#include "core/convert/lines/item.hpp"

#include <string>
#include <string_view>

namespace dts::convert {

// Shell built-ins and trivial commands: never a job's program.
[[nodiscard]] bool is_auxiliary(const std::string& verb);

// Of the shell alone: no program that could be started in its place.
[[nodiscard]] bool is_command_of_shell(std::string_view command);

// After a program: a further program, not a command that cleans up, copies results or prints.
[[nodiscard]] bool does_work(const lint::Run& run);

// True if `command` would do work, judging by its first word alone: "srun prog" and "./prog", not
// "module load x".
[[nodiscard]] bool is_work_by_name(std::string_view command);

// As does_work(), and also true for commands within functions.
[[nodiscard]] bool works_anywhere(const lint::Run& run);

// Cleans up, copies results or sends a message.
[[nodiscard]] bool is_tidying(const lint::Run& run);

// python -c TEXT, of a short text.
[[nodiscard]] bool asks_python(const lint::Run& run);

// mpirun --version
[[nodiscard]] bool asks_version(const lint::Run& run);

// Moves, packs, fetches or installs files: work if a job does nothing else.
[[nodiscard]] bool is_tool(const lint::Run& run);

// pip install x, git clone: what a tear-down has no time for.
[[nodiscard]] bool installs(const lint::Run& run);

// Makes what a later call runs, perhaps on this node only: enroot create, uv sync.
[[nodiscard]] bool only_prepares(const lint::Run& run);

// cat a b > c: the file is what the line is for.
[[nodiscard]] bool makes_file(const Item& item);

// ray stop, kill $SERVER
[[nodiscard]] bool only_ends_services(const Item& item);

}  // namespace dts::convert
