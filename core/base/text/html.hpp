// SPDX-License-Identifier: Apache-2.0
// Text within HTML, SVG and XML. Pure.
#pragma once

#include <string>

namespace dts {

// Appends `c` as text, also safe within a quoted attribute.
inline void append_html(std::string& to, char c) {
  if (c == '&')
    to += "&amp;";
  else if (c == '<')
    to += "&lt;";
  else if (c == '>')
    to += "&gt;";
  else if (c == '"')
    to += "&quot;";
  else
    to += c;
}

}  // namespace dts
