// SPDX-License-Identifier: Apache-2.0
// An error as text, to pass it from one process to another. Pure.
#pragma once

#include "core/base/result.hpp"

#include <string>
#include <string_view>

namespace dts::topo {

// The message, followed by "
// hint: " and the hint if there is one.
[[nodiscard]] std::string to_text(const Error& error);

// The inverse of to_text().
[[nodiscard]] Error error_from(Errc code, std::string_view text);

}  // namespace dts::topo
