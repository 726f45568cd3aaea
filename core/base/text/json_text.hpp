// SPDX-License-Identifier: Apache-2.0
// JSON values as text. Bytes that are not UTF-8, as in the names of files, are replaced by U+FFFD.
// `Json` is one of nlohmann's types. Pure, thread-safe.
#pragma once

#include <string>

namespace dts {

// Without line breaks.
template <class Json>
[[nodiscard]] std::string json_line(const Json& value) {
  return value.dump(-1, ' ', false, Json::error_handler_t::replace);
}

// A document: indented, with a line break at its end.
template <class Json>
[[nodiscard]] std::string json_text(const Json& document) {
  return document.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace dts
