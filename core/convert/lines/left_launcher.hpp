// SPDX-License-Identifier: Apache-2.0
// Launchers that a conversion has left in a text. Pure.
#pragma once

#include <string>
#include <string_view>

namespace dts::convert {

// The first launcher that the shell text runs as a command, also by eval or bash -c: "srun". Empty:
// none. Comments and words of other commands do not count.
[[nodiscard]] std::string launcher_in(std::string_view text);

}  // namespace dts::convert
