// SPDX-License-Identifier: Apache-2.0
// Values on the command line, refused in our own words. Whole numbers are read as text because
// CLI11 would turn "-1" into 2^64 - 1.
#pragma once

#include "core/base/diagnostics.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace CLI {
class Option;
}

namespace dts::cli {

// The value of `option`, from `least` to `most`; anything else is a problem and returns `least`.
[[nodiscard]] std::uint64_t read_count(const char* option,
                                       const std::string& text,
                                       std::uint64_t least,
                                       std::uint64_t most,
                                       Diagnostics& problems);

// Makes the parser refuse any other value, in the words of read_count().
void accept_whole(CLI::Option& option, std::uint64_t least, std::uint64_t most);

// The same for one of some words.
void accept_words(CLI::Option& option, const std::vector<std::string>& words);

}  // namespace dts::cli
