// SPDX-License-Identifier: Apache-2.0
// Compares how Slurm sees a script and the job file made from it.
#pragma once

#include "cli/output/convert.hpp"

#include <string>
#include <vector>

namespace dts::cli {

// Calls sbatch --test-only for both, and compares their #SBATCH lines. Submits nothing.
[[nodiscard]] Comparison compare_by_test(const std::string& script,
                                         const std::vector<std::string>& arguments,
                                         const std::string& job_file);

}  // namespace dts::cli
