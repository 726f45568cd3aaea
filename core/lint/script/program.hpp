// SPDX-License-Identifier: Apache-2.0
// A program and its arguments, regardless of what starts it. Pure, thread-safe.
#pragma once

#include "core/lint/script/values.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace dts::lint {

// The value of a program's option, written as --name=value or --name value, and with `-` or `_`
// between the words of its name; nullopt: the option is absent. Searches from words[from] on.
struct ProgramOption {
  Value value;
  shell::Span span;
};

[[nodiscard]] std::optional<ProgramOption> program_option(const std::vector<ExpandedWord>& words,
                                                          std::size_t from,
                                                          std::string_view name);

// The file name of a path: "python3" for "/usr/bin/python3".
[[nodiscard]] std::string base_name(const std::string& path);

// True for python, python3.11 and the like.
[[nodiscard]] bool is_python(std::string_view program);

}  // namespace dts::lint
