// SPDX-License-Identifier: Apache-2.0
// Writes out a script's control flow as a shell would run it, if that is certain when the
// script is converted: the branch of an `if` that is taken, the iterations of a loop that starts
// programs, functions that only print and run their arguments. Pure.
#pragma once

#include "core/convert/expand/rewrite.hpp"
#include "core/convert/known/known.hpp"

#include <string_view>
#include <vector>

namespace dts::convert {

// The limit of a script in bytes, beyond which nothing more is written out.
inline constexpr std::size_t k_longest_script = std::size_t{256} << 10;

struct Expanded {
  Rewrite script;
  std::vector<Row> rows{};  // of what is not in it any more
};

// `nodes`: of the job. `programs`: places of the commands that do the job's work. `decides`:
// also branches and loops, not only functions. `known` is updated up to the script's end.
[[nodiscard]] Expanded expanded(std::string_view text,
                                const shell::Script& script,
                                const std::vector<Span>& programs,
                                Known& known,
                                std::size_t nodes,
                                bool decides);

}  // namespace dts::convert
