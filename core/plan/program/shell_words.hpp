// SPDX-License-Identifier: Apache-2.0
// The simple commands in a shell's command text, as far as they are known without running it. Pure.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace dts::plan {

struct ShellCommand {
  std::vector<std::string> words;
  std::vector<std::size_t> ends;  // end of each word in the text, one past its last byte
};

// The words of each command between `;`, `&`, `|`, `(`, `)`, `{`, `}`, newlines and keywords (if,
// then, do, ...), with quotes removed. Nothing is expanded; comments, redirections and
// here-document bodies may appear as words.
[[nodiscard]] std::vector<ShellCommand> split_shell(std::string_view text);

}  // namespace dts::plan
