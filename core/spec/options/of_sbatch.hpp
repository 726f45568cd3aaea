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

// The same for options that people copy from a line of srun, some of them of its plug-ins. sbatch
// may know those: --slurm KEY=VALUE passes them on.
[[nodiscard]] std::optional<std::string> instead_of_srun(std::string_view name);

}  // namespace dts::spec
