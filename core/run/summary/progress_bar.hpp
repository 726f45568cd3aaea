// SPDX-License-Identifier: Apache-2.0
// Progress bars as tqdm draws them, also for Lightning and transformers:
// " 70%|#######   | 70/100 [00:01<00:00, 48.8it/s]". Pure.
#pragma once

#include <cstddef>
#include <string_view>

namespace dts::run {

// The length of the text up to the end of the bar that it begins with, perhaps after the bar's
// name; 0: there is none.
[[nodiscard]] std::size_t length_of_bar(std::string_view text);

// True if `bar` is `earlier`, or a state of it at most a second later: tqdm draws ten times a
// second, and once more when the program ends.
[[nodiscard]] bool is_redrawn(std::string_view bar, std::string_view earlier);

}  // namespace dts::run
