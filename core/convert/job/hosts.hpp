// SPDX-License-Identifier: Apache-2.0
// Lists of hosts as Slurm takes them. Pure.
#pragma once

#include <string>

namespace dts::convert {

// "a,,b" as "a,b": Slurm ignores empty names between commas, but not within brackets.
[[nodiscard]] std::string without_empty_hosts(const std::string& list);

}  // namespace dts::convert
