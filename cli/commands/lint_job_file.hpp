// SPDX-License-Identifier: Apache-2.0
// `dtsubmit lint job.toml`.
#pragma once

#include "core/lint/lint.hpp"

#include <string>
#include <vector>

namespace dts::cli {

// The problems that a job file has by itself: keys, values, and contradictory requests.
[[nodiscard]] std::vector<lint::Finding> lint_job_file(const std::string& text,
                                                       const std::string& path,
                                                       const lint::Options& options);

}  // namespace dts::cli
