// SPDX-License-Identifier: Apache-2.0
// The indices of a job array in sbatch's notation: "0-9", "1,3,5", "0-15:4", "0-19%4" (sbatch(1),
// --array). Pure, thread-safe.
#pragma once

#include "core/base/result.hpp"

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace dts {

// The limit of our arrays, whatever the site's MaxArraySize.
inline constexpr std::size_t k_most_elements = 100'000;

// One less than Slurm's largest MaxArraySize (slurm.conf(5)).
inline constexpr unsigned k_highest_index = 4'000'000;

struct ArrayIndices {
  std::vector<unsigned> indices;  // ascending, each once; empty: only `at_once` was given ("%4")
  unsigned at_once = 0;           // number that run at the same time; 0: no limit
};

// Parses the notation. Errc::invalid says what is wrong and gives an example.
[[nodiscard]] Result<ArrayIndices> parse_array_indices(std::string_view text);

// The inverse of parse_array_indices(), in the shortest form.
[[nodiscard]] std::string to_text(const ArrayIndices& array);

}  // namespace dts
