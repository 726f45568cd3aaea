// SPDX-License-Identifier: Apache-2.0
// Whole numbers of the command line. CLI11 would make 2^64 - 1 of "-1": they are taken as text.
#pragma once

#include "core/base/diagnostics.hpp"

#include <cstdint>
#include <string>

namespace dts::cli {

// What was typed for `option`, from `least` to `most`; `least` and a problem for anything else.
[[nodiscard]] std::uint64_t read_count(const char* option,
                                       const std::string& text,
                                       std::uint64_t least,
                                       std::uint64_t most,
                                       Diagnostics& problems);

}  // namespace dts::cli
