// SPDX-License-Identifier: Apache-2.0
// Ctrl-C during long work: checked between two polls, so that work can be cleaned up.
#pragma once

#include "core/base/result.hpp"

namespace dts {

// From now on SIGINT, SIGTERM and SIGHUP are only recorded.
void remember_signals();

// Errc::interrupted once one of these signals has arrived.
[[nodiscard]] Result<void> check_interruption();

}  // namespace dts
