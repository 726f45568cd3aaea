// SPDX-License-Identifier: Apache-2.0
// Options of sbatch and other launchers that dtsubmit lacks because it serves their purpose in
// another way.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace dts::spec {

// What to use instead of that sbatch option, by its long or short name ("--wrap", "-a"); nullopt if
// sbatch has no such option. Pure, thread-safe.
[[nodiscard]] std::optional<std::string> instead_of(std::string_view name);

// The same for options that users copy from an srun command line, including those of srun plug-ins.
// sbatch may know these: --slurm KEY=VALUE passes them on.
[[nodiscard]] std::optional<std::string> instead_of_srun(std::string_view name);

// The same for long options that users know from other launchers, with dashes or underscores.
[[nodiscard]] std::optional<std::string> instead_of_launcher(std::string_view name);

}  // namespace dts::spec
