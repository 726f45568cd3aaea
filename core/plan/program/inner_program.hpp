// SPDX-License-Identifier: Apache-2.0
// What the words of a command run in the end: through wrappers, Python and shells. Pure.
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

// By the name of the program's file: "python", "python3.11", "pypy3".
[[nodiscard]] bool is_python(std::string_view name);
[[nodiscard]] bool is_shell(std::string_view name);

// A program of Python, not an option: "train.py".
[[nodiscard]] bool is_script(std::string_view word);

// Without the A=B at their beginning.
[[nodiscard]] CommandWords without_assignments(CommandWords words);

struct FoundLauncher {
  const KnownLauncher* launcher;
  std::size_t verb_words;
};

// The launcher called `name` ("torchrun", "-m torch.distributed.run") whose verb `rest`, the words
// after that name, begins with.
[[nodiscard]] std::optional<FoundLauncher> known_launcher(std::string_view name, CommandWords rest);

struct FoundWrapper {
  const KnownWrapper* wrapper;
  std::size_t at;          // where the words of its program begin; words.size(): it has none
  bool is_module = false;  // the word there is a module of Python
};

// The wrapper called `name`, which is the first of `words`.
[[nodiscard]] std::optional<FoundWrapper> known_wrapper(std::string_view name, CommandWords words);

struct PythonProgram {
  std::size_t at;
  bool is_module;
};

// Which of `words`, the first of them Python, is its script or module; nullopt: none of them, -c.
[[nodiscard]] std::optional<PythonProgram> program_of_python(CommandWords words);

// Which of `words` is the command text of the shell that they begin with, as in
// `bash -euo pipefail -c TEXT`; nullopt: none is.
[[nodiscard]] std::optional<std::size_t> text_of_shell(CommandWords words);

}  // namespace dts::plan
