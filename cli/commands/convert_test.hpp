// SPDX-License-Identifier: Apache-2.0
// Whether Slurm sees the same request in a script and in the job file made of it.
#pragma once

#include "cli/output/convert.hpp"

#include <string>
#include <vector>

namespace dts::cli {

// Asks sbatch --test-only for both, and compares their #SBATCH lines; submits nothing.
[[nodiscard]] Comparison compare_by_test(const std::string& script,
                                         const std::vector<std::string>& arguments,
                                         const std::string& job_file);

}  // namespace dts::cli
