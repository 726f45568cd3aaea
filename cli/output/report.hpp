// SPDX-License-Identifier: Apache-2.0
// How errors reach a person.
#pragma once

#include "core/base/result.hpp"

namespace dts::cli {

// "dtsubmit: error: MESSAGE" and "  help: HINT" on standard error. Colour only on a terminal and
// without NO_COLOR (no-color.org).
void report(const Error& error);

// Prints a warning that does not stop a command: "dtsubmit: warning: ..."; nothing if empty.
void warn(const std::string& words);

}  // namespace dts::cli
