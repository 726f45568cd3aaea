// SPDX-License-Identifier: Apache-2.0
// Counted nouns in sentences. Pure, thread-safe.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace dts {

// "1 rank", "2 ranks", "0 ranks"; `many` is for irregular plurals.
[[nodiscard]] inline std::string counted(std::uint64_t number,
                                         std::string_view one,
                                         std::string_view many = {}) {
  std::string text = std::to_string(number) + " ";
  if (number == 1) return text.append(one);
  return many.empty() ? text.append(one).append("s") : text.append(many);
}

}  // namespace dts
