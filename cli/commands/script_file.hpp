// SPDX-License-Identifier: Apache-2.0
// Reads scripts that users name on the command line.
#pragma once

#include "core/base/result.hpp"

#include <string>
#include <string_view>

namespace dts::cli {

inline constexpr const char* k_standard_input = "-";

// Errc::invalid if `path` is a folder.
[[nodiscard]] Result<void> refuse_folder(const std::string& path);

// The text of the file, or of standard input. Errc::invalid if it is too large for a script.
[[nodiscard]] Result<std::string> read_script(const std::string& path);

// Errc::invalid for a binary file, as bash(1) recognizes one: by a NUL byte in its first line.
// Those behind that are a finding of lint.
[[nodiscard]] Result<void> check_is_text(const std::string& path, std::string_view text);

}  // namespace dts::cli
