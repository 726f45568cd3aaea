// SPDX-License-Identifier: Apache-2.0
// Commands of Unix that read their input where they name no file. Pure.
#pragma once

#include "core/shell/syntax.hpp"

#include <string>

namespace dts::convert {

// An option, as far as it is written: -n, -n$N; empty: another word.
[[nodiscard]] std::string option_word(const shell::Word& word);

// head -n 3, grep SLURM, sort; not sort FILE or sort -o FILE.
[[nodiscard]] bool is_filter(const shell::Command& command);

}  // namespace dts::convert
