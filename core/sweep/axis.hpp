// SPDX-License-Identifier: Apache-2.0
// One parameter of a sweep and its values: "lr=0.1,0.01", "seed=1..3", "lr=log(1e-5..1e-1)". Pure,
// thread-safe.
#pragma once

#include "core/base/diagnostics.hpp"

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace dts::sweep {

inline constexpr std::size_t k_longest_name = 64;
inline constexpr std::size_t k_longest_value = 1024;

// The interval from which --sweep-mode random draws values.
struct Interval {
  double low = 0;
  double high = 0;
  bool logarithmic = false;  // uniform over the logarithm
};

struct Axis {
  std::string name;
  std::vector<std::string> values{};
  std::optional<Interval> interval{};  // instead of a list of values
};

// True for a valid parameter name: a letter or `_`, then letters, digits or `_`, at most
// k_longest_name.
[[nodiscard]] bool is_name(std::string_view text);

// The environment variable by which programs get the parameter: "DTSUBMIT_PARAMETER_LR".
[[nodiscard]] std::string variable_of(std::string name);

// The problem with such a name, given the names `before` it; empty: none.
[[nodiscard]] std::string trouble_with_name(const std::string& name,
                                            const std::vector<std::string>& before);

// The problem with a value; empty: none.
[[nodiscard]] std::string trouble_with_value(const std::string& value);

// Parses NAME=VALUES. Problems are attributed to --sweep, with a caret.
[[nodiscard]] Axis parse_axis(const std::string& text, Diagnostics& problems);

}  // namespace dts::sweep
