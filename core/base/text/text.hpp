// SPDX-License-Identifier: Apache-2.0
// Small pure functions on text. Thread-safe.
#pragma once

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace dts {

[[nodiscard]] std::vector<std::string> split(std::string_view text, char separator);
[[nodiscard]] std::string_view trim(std::string_view text);
// Converts A to Z; all other bytes stay as they are, whatever the locale.
[[nodiscard]] std::string in_lower_case(std::string_view text);
[[nodiscard]] std::string join(const std::vector<std::string>& parts, std::string_view separator);

// Whether `word` is in a list of texts.
template <class List>
[[nodiscard]] bool is_one_of(const List& list, std::string_view word) {
  return std::find(std::begin(list), std::end(list), word) != std::end(list);
}

// The value of `text` as a decimal number; nullopt for anything else (sign, blank, overflow,
// empty).
[[nodiscard]] std::optional<std::uint64_t> parse_number(std::string_view text);

// The value of `text` as a finite number in C's decimal notation ("-1.5e3"), whatever the locale.
[[nodiscard]] std::optional<double> parse_real(std::string_view text);

// One POSIX shell word (IEEE Std 1003.1-2017, 2.2.2): single-quoted unless plainly safe.
[[nodiscard]] std::string shell_quote(std::string_view word);

// The pattern that matches only this text: glob(7), and {a,b}.
[[nodiscard]] std::string glob_escaped(const std::string& text);

// With `value` for each `name` in it, which is not empty.
[[nodiscard]] std::string replaced(std::string text,
                                   const std::string& name,
                                   const std::string& value);

// True for ^[A-Za-z0-9][A-Za-z0-9._-]*$: the names that we allow in paths and Slurm's file
// patterns.
[[nodiscard]] bool is_safe_name(std::string_view name);

// True if no byte is a control character (0-31, 127).
[[nodiscard]] bool is_printable(std::string_view text);

// Damerau-Levenshtein distance (optimal string alignment).
[[nodiscard]] std::size_t edit_distance(std::string_view a, std::string_view b);

// The candidate that begins with `word`, otherwise the nearest one if it is close enough for `word`
// to be a typo.
[[nodiscard]] std::optional<std::string> nearest(std::string_view word,
                                                 const std::vector<std::string>& candidates);

}  // namespace dts
