// SPDX-License-Identifier: Apache-2.0
// What CLI11 says about a command line that it cannot read, in our words.
#pragma once

#include <string>

// CLI11's headers cost seconds per file.
namespace CLI {
class App;
class ParseError;
}  // namespace CLI

namespace dts::cli {

// `verb`: the command whose options were read. Messages that need no change are returned as they
// are, but begin with a lower-case letter.
[[nodiscard]] std::string words_of(const CLI::ParseError& error, const CLI::App& verb);

}  // namespace dts::cli
