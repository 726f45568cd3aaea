// SPDX-License-Identifier: Apache-2.0
// Ctrl-C during a drill: checked between two polls, so that nothing is left behind.
#pragma once

#include "core/base/result.hpp"

namespace dts::drill {

// From now on SIGINT, SIGTERM and SIGHUP are only recorded.
void remember_signals();

// Errc::interrupted once one of them has arrived.
[[nodiscard]] Result<void> check_interruption();

}  // namespace dts::drill
