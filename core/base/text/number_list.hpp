// SPDX-License-Identifier: Apache-2.0
// Lists of numbers in the kernel's notation, "0-3,8" (cpuset(7), "List format"). Pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace dts {

// The highest number of a processor, NUMA node or GPU: twice Linux's maximum (CONFIG_NR_CPUS, 8192
// on x86), and the size of our sets for sched_setaffinity(2).
inline constexpr unsigned k_highest_cpu = 16'383;

// All numbers of `text` in order; none for empty text. nullopt for any other text, and for a number
// above `most`.
[[nodiscard]] std::optional<std::vector<unsigned>> parse_number_list(std::string_view text,
                                                                     unsigned most);

// The inverse for ascending numbers: "0-3,8". Two neighbours are not folded: "0,1".
[[nodiscard]] std::string fold_numbers(const std::vector<unsigned>& numbers);

// The same, but numbers that are `step` apart are folded, too: "0-992:8,993".
[[nodiscard]] std::string fold_with_steps(const std::vector<unsigned>& numbers);

}  // namespace dts
