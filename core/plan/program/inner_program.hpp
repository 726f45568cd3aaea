// SPDX-License-Identifier: Apache-2.0
// Finds the program that a command finally runs, behind wrappers, Python and shells. Pure.
#pragma once

#include "core/plan/program/known_launchers.hpp"

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace dts::plan {

using CommandWords = std::span<const std::string>;

[[nodiscard]] std::string_view file_name_of(std::string_view path);

// True for file names such as "python", "python3.11", "pypy3"; likewise for shells.
[[nodiscard]] bool is_python(std::string_view name);
[[nodiscard]] bool is_shell(std::string_view name);

// True for the name of a Python file ("train.py"), not of an option.
[[nodiscard]] bool is_script(std::string_view word);

// `words` without leading A=B assignments.
[[nodiscard]] CommandWords without_assignments(CommandWords words);

struct FoundLauncher {
  const KnownLauncher* launcher;
  std::size_t verb_words;
};

// The launcher called `name` ("torchrun", "-m torch.distributed.run") whose verb begins `rest`, the
// words after the name.
[[nodiscard]] std::optional<FoundLauncher> known_launcher(std::string_view name, CommandWords rest);

struct FoundWrapper {
  const KnownWrapper* wrapper;
  std::size_t at;          // index of its program's first word; words.size(): none
  bool is_module = false;  // that word is a Python module
};

// By file name: "env", "conda", "strace"; the verb that makes it a wrapper is not looked at.
[[nodiscard]] bool is_wrapper_name(std::string_view name);

// The wrapper called `name`, the first of `words`; also one that no row names, with a `--` before a
// program that is known.
[[nodiscard]] std::optional<FoundWrapper> known_wrapper(std::string_view name, CommandWords words);

struct PythonProgram {
  std::size_t at;
  bool is_module;
};

// The index of the script or module in `words`, the first of which is Python; nullopt: none, or -c.
[[nodiscard]] std::optional<PythonProgram> program_of_python(CommandWords words);

// The index of the command text in `words`, which begin with a shell, as in `bash -euo pipefail -c
// TEXT`; nullopt: none.
[[nodiscard]] std::optional<std::size_t> text_of_shell(CommandWords words);

}  // namespace dts::plan
