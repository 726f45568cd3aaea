// SPDX-License-Identifier: Apache-2.0
#include "plugins/slurm_shared/semantics.hpp"

#include <array>
#include <charconv>
#include <compare>
#include <optional>

namespace slurm_plugin {
namespace {

// Slurm is numbered by year and month; what is after the second dot mends only.
struct Release {
  unsigned year = 0;
  unsigned month = 0;
  auto operator<=>(const Release&) const = default;
};

struct FirstRelease {
  Fact fact;
  Release since;
};

constexpr std::array k_first_releases{
    // CHANGELOG of 24.05; measured on 22.05.8 (not so), 24.11.5 and 26.05.5.
    FirstRelease{Fact::restarts_ended_jobs, {24, 5}},
    // sbatch(1) of 25.11; measured on 26.05.5.
    FirstRelease{Fact::expedited_requeue, {25, 11}},
};

std::optional<Release> release_of(std::string_view text) {
  Release release;
  const char* const end = text.data() + text.size();
  const auto year = std::from_chars(text.data(), end, release.year);
  if (year.ec != std::errc() || year.ptr == end || *year.ptr != '.') return std::nullopt;
  const auto month = std::from_chars(year.ptr + 1, end, release.month);
  return month.ec == std::errc() ? std::optional(release) : std::nullopt;
}

}  // namespace

bool holds_for(Fact fact, std::string_view release) {
  const auto known = release_of(release);
  for (const FirstRelease& row : k_first_releases)
    if (row.fact == fact) return known && *known >= row.since;
  return false;
}

}  // namespace slurm_plugin
