// SPDX-License-Identifier: Apache-2.0
#include "core/lint/script/placeholder.hpp"

#include "core/base/text/text.hpp"

namespace dts::lint {

bool is_placeholder(std::string_view value) {
  const std::string lower = in_lower_case(value);
  const std::size_t open = lower.find('<');
  if (open != std::string::npos && lower.find('>', open) != std::string::npos) return true;
  // {{ nodes }}, { partition }, {LIMIT}, but not ${VARIABLE}.
  const std::size_t brace = lower.find('{');
  if (brace != std::string::npos && lower.find('}', brace) != std::string::npos &&
      (brace == 0 || lower[brace - 1] != '$') && lower.find(',') == std::string::npos)
    return true;
  if (lower.find("changeme") != std::string::npos) return true;
  for (std::size_t at = lower.find("your"); at != std::string::npos;
       at = lower.find("your", at + 1)) {
    const bool begins = at == 0 || lower[at - 1] < 'a' || lower[at - 1] > 'z';
    const char next = at + 4 < lower.size() ? lower[at + 4] : ' ';
    if (begins && (next < 'a' || next > 'z')) return true;
  }
  return false;
}

}  // namespace dts::lint
