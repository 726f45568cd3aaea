// SPDX-License-Identifier: Apache-2.0
// Lists of numbers as the kernel writes them, "0-3,8" (cpuset(7), "List format"). Pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace dts {

// No processor, NUMA node or GPU has a higher number: twice what Linux can have (CONFIG_NR_CPUS,
// 8192 on x86), and what a set for sched_setaffinity(2) is made for.
inline constexpr unsigned k_highest_cpu = 16'383;

// All numbers in order; empty for empty text. nullopt for anything else, and for a number above
// `most`.
[[nodiscard]] std::optional<std::vector<unsigned>> parse_number_list(std::string_view text,
                                                                     unsigned most);

// The inverse for ascending numbers: "0-3,8". Two neighbours stay apart: "0,1".
[[nodiscard]] std::string fold_numbers(const std::vector<unsigned>& numbers);

// The same where numbers that are `step` apart belong together too: "0-992:8,993".
[[nodiscard]] std::string fold_with_steps(const std::vector<unsigned>& numbers);

}  // namespace dts
