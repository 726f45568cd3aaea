// SPDX-License-Identifier: Apache-2.0
// Options of sbatch that dtsubmit does not have, because it does what they are for in another way.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace dts::spec {

// What to do instead of that option, by its long or short name ("--wrap", "-a"); nullopt: no such
// option of sbatch. Pure, thread-safe.
[[nodiscard]] std::optional<std::string> instead_of(std::string_view name);

}  // namespace dts::spec
