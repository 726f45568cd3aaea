// SPDX-License-Identifier: Apache-2.0
// Whether a run can be written to; checked before starting anything that it must record.
#pragma once

#include "core/run/directory/run_directory.hpp"

namespace dts::run {

// Errors: a full or read-only disk, or a missing run directory. Leaves nothing behind.
[[nodiscard]] Result<void> check_writable(const RunDirectory& run);

}  // namespace dts::run
