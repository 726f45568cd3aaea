// SPDX-License-Identifier: Apache-2.0
// A program and its arguments, whatever starts it. Pure, thread-safe.
#pragma once

#include "core/lint/script/values.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace dts::lint {

// The value of a program's option, whether written --name=value or --name value, and with `-` or
// `_` between its words; nullopt: it is not there. Looks at words[from] and behind.
struct ProgramOption {
  Value value;
  shell::Span span;
};

[[nodiscard]] std::optional<ProgramOption> program_option(const std::vector<ExpandedWord>& words,
                                                          std::size_t from,
                                                          std::string_view name);

// "/usr/bin/python3" is "python3".
[[nodiscard]] std::string base_name(const std::string& path);

// python, python3.11 and the like.
[[nodiscard]] bool is_python(std::string_view program);

}  // namespace dts::lint
