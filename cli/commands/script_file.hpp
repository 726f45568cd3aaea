// SPDX-License-Identifier: Apache-2.0
// Scripts that people name on the command line.
#pragma once

#include "core/base/result.hpp"

#include <string>

namespace dts::cli {

inline constexpr const char* k_standard_input = "-";

// Fails with Errc::invalid for a folder.
[[nodiscard]] Result<void> refuse_folder(const std::string& path);

// The text of that file, or of standard input. Fails with Errc::invalid for what is too large for a
// script.
[[nodiscard]] Result<std::string> read_script(const std::string& path);

}  // namespace dts::cli
