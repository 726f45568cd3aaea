// SPDX-License-Identifier: Apache-2.0
#include "core/base/text/html.hpp"

namespace dts {

void append_html(std::string& to, char c) {
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
