// SPDX-License-Identifier: Apache-2.0
// The text of a JSON document that a command prints.
#pragma once

#include <string>

namespace dts::cli {

// Indented, with a line break at its end. Bytes that are not UTF-8, as in the names of files, are
// replaced by U+FFFD. `Json` is one of nlohmann's types.
template <class Json>
[[nodiscard]] std::string json_text(const Json& document) {
  return document.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace dts::cli
