// SPDX-License-Identifier: Apache-2.0
// Capabilities of the user's terminal.
#pragma once

namespace dts::cli {

// Whether to use colour on the stream `descriptor`: it is a terminal, and NO_COLOR (no-color.org)
// is not set.
[[nodiscard]] bool wants_colour(int descriptor);

// Columns of standard output: COLUMNS, otherwise the terminal's, otherwise 80. Between 40 and 240.
[[nodiscard]] unsigned terminal_columns();

// Whether the locale uses UTF-8, according to its variables (LC_ALL, LC_CTYPE, LANG; POSIX.1-2017
// XBD 8.2).
[[nodiscard]] bool has_utf8();

}  // namespace dts::cli
