// SPDX-License-Identifier: Apache-2.0
// Releases that are numbered by year and month, such as Slurm's "24.11.5". The third number only
// counts bug fixes, and is ignored. Pure, thread-safe.
#pragma once

#include <compare>
#include <optional>
#include <string>
#include <string_view>

namespace dts {

struct Release {
  unsigned year = 0;
  unsigned month = 0;
  auto operator<=>(const Release&) const = default;
};

// nullopt for a text that does not begin with YEAR.MONTH.
[[nodiscard]] std::optional<Release> release_of(std::string_view text);

// "24.11", "22.05".
[[nodiscard]] std::string to_string(Release release);

}  // namespace dts
