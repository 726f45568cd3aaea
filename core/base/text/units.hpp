// SPDX-License-Identifier: Apache-2.0
// Slurm's spellings of time and memory (sbatch(1), options --time and --mem). Pure.
#pragma once

#include "core/base/result.hpp"

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace dts {

// "M", "[H:]M:S", "D-H[:M[:S]]"; "90s", "5m", "1.5h", "2d"; "UNLIMITED", "INFINITE": seconds::max()
[[nodiscard]] Result<std::chrono::seconds> parse_time_limit(std::string_view text);

// A length of time that is not a job's time limit: a plain number is seconds. Otherwise as
// parse_time_limit().
[[nodiscard]] Result<std::chrono::seconds> parse_length(const std::string& text);

// "[D-]HH:MM:SS", or "UNLIMITED".
[[nodiscard]] std::string format_time_limit(std::chrono::seconds limit);

// "N[K|M|G|T]" with M as the default unit, as --mem reads it; the result is in MiB (rounded up).
[[nodiscard]] Result<std::uint64_t> parse_memory_mib(std::string_view text);

// ISO 8601 in UTC to the second, e.g. "2026-11-21T01:02:03Z".
[[nodiscard]] std::string format_utc(std::chrono::system_clock::time_point time);
// The inverse of format_utc(), from 1970 to 2199; nullopt for any other text.
[[nodiscard]] std::optional<std::chrono::system_clock::time_point> parse_utc(
    const std::string& text);

}  // namespace dts
