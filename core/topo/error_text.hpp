// SPDX-License-Identifier: Apache-2.0
// An error as text, on its way from one process to another. Pure.
#pragma once

#include "core/base/result.hpp"

#include <string>
#include <string_view>

namespace dts::topo {

// The message and, where there is a hint, "\nhint: " and that.
[[nodiscard]] std::string to_text(const Error& error);

// Its inverse.
[[nodiscard]] Error error_from(Errc code, std::string_view text);

}  // namespace dts::topo
