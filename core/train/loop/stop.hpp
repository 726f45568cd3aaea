// SPDX-License-Identifier: Apache-2.0
// Stop requests: signals only set a flag, which the training loop reads between steps.
#pragma once

namespace dts::train {

// From now on SIGTERM, SIGINT, SIGUSR1 and SIGUSR2 set the flag. Call it once, before threads
// start.
void catch_stop_signals();

// The number of the last such signal; 0 if none.
[[nodiscard]] int stop_signal();

}  // namespace dts::train
