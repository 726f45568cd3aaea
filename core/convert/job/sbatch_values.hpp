// SPDX-License-Identifier: Apache-2.0
// Values of options as Slurm takes them. Pure.
#pragma once

#include <string>
#include <string_view>

namespace dts::convert {

// "a,,b" as "a,b": Slurm ignores empty names between commas, but not within brackets.
[[nodiscard]] std::string without_empty_hosts(const std::string& list);

// sbatch(1): a time limit of zero, 0 or 00:00:00, requests none.
[[nodiscard]] bool is_no_limit(std::string_view time);

}  // namespace dts::convert
