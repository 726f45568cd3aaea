// SPDX-License-Identifier: Apache-2.0
// Reports errors to the user.
#pragma once

#include "core/base/result.hpp"

namespace dts::cli {

// Prints "dtsubmit: error: MESSAGE" and "  help: HINT" to standard error. Uses colour only on a
// terminal and without NO_COLOR (no-color.org).
void report(const Error& error);

// Prints a warning that does not stop a command: "dtsubmit: warning: ..."; nothing if empty.
void warn(const std::string& words);

}  // namespace dts::cli
