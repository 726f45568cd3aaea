// SPDX-License-Identifier: Apache-2.0
// Translates libslurm's error numbers.
#pragma once

#include "plugins/slurm_shared/failure.hpp"

#include <string>

namespace slurm_plugin {

// The failure that libslurm left in errno: slurm_strerror's message verbatim, preceded by "WHAT: "
// unless `what` is empty.
[[nodiscard]] tl::unexpected<Failure> failed_slurm(const std::string& what = {});

// The same for a given error number.
[[nodiscard]] tl::unexpected<Failure> failed_slurm(int number, const std::string& what);

}  // namespace slurm_plugin
