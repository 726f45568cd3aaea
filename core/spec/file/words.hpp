// SPDX-License-Identifier: Apache-2.0
// Splits a command given as one string. Pure, thread-safe.
#pragma once

#include "core/base/result.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace dts::spec {

// Splits at blanks, with quotes and backslashes as in POSIX shell (IEEE Std 1003.1-2017, 2.2), so
// the words are those that a terminal makes of `python3 train.py --name 'a b'`. Nothing is
// expanded: Errc::invalid where a shell would do more than split ($, `, |, ;, *, ~ and the like
// outside of quotes), and for an unclosed quote.
[[nodiscard]] Result<std::vector<std::string>> split_words(std::string_view text);

}  // namespace dts::spec
