// SPDX-License-Identifier: Apache-2.0
// A command that is written as one text. Pure, thread-safe.
#pragma once

#include "core/base/result.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace dts::spec {

// Split at blanks; quotes and backslashes as POSIX shell has them (IEEE Std 1003.1-2017, 2.2), so
// that the words are those of `python3 train.py --name 'a b'` in a terminal. Nothing is expanded:
// Errc::invalid where a shell would do more than split ($, `, |, ;, *, ~ and the like outside of
// quotes), and for a quote that is not closed.
[[nodiscard]] Result<std::vector<std::string>> split_words(std::string_view text);

}  // namespace dts::spec
