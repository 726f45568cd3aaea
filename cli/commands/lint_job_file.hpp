// SPDX-License-Identifier: Apache-2.0
// `dtsubmit lint job.toml`.
#pragma once

#include "core/lint/lint.hpp"

#include <string>
#include <vector>

namespace dts::cli {

// What is wrong with a job file by itself: keys, values, and what they ask for together.
[[nodiscard]] std::vector<lint::Finding> lint_job_file(const std::string& text,
                                                       const std::string& path,
                                                       const lint::Options& options);

}  // namespace dts::cli
