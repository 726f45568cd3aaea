// SPDX-License-Identifier: Apache-2.0
// Whole numbers on the command line, read as text because CLI11 would turn "-1" into 2^64 - 1.
#pragma once

#include "core/base/diagnostics.hpp"

#include <cstdint>
#include <string>

namespace dts::cli {

// The value of `option`, from `least` to `most`; anything else is a problem and returns `least`.
[[nodiscard]] std::uint64_t read_count(const char* option,
                                       const std::string& text,
                                       std::uint64_t least,
                                       std::uint64_t most,
                                       Diagnostics& problems);

}  // namespace dts::cli
