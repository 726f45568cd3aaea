// SPDX-License-Identifier: Apache-2.0
// How ranks agree on errors.
#pragma once

#include "core/train/comm/comm.hpp"

#include <optional>

namespace dts::train {

// Collective. Returns the same on all ranks: 0, or the exit code of the lowest rank with an error,
// which prints it unless its message is empty. `code` replaces the exit code of this rank's error.
[[nodiscard]] int agree_on_error(Comm& comm,
                                 const Result<void>& mine,
                                 std::optional<int> code = {});

}  // namespace dts::train
