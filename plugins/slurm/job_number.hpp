// SPDX-License-Identifier: Apache-2.0
// Converts job ids to the numbers that libslurm uses.
#pragma once

#include "plugins/slurm_shared/job_name.hpp"

#include <cstdint>

namespace slurm_plugin {

// The number for libslurm calls of the request's "id". A task or component costs one query to the
// controller. Failures: invalid, naming the id, if it is not one of Slurm's; not_found if the job
// has no such task or component.
[[nodiscard]] Outcome<std::uint32_t> job_number(const json& request);

}  // namespace slurm_plugin
