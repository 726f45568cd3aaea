// SPDX-License-Identifier: Apache-2.0
// The request to stop: signals only set a flag, the training loop reads it between steps.
#pragma once

namespace dts::train {

// SIGTERM, SIGINT, SIGUSR1 and SIGUSR2 set the flag from now on. To be called once, before threads
// start.
void catch_stop_signals();

// The number of the last such signal, 0 without one.
[[nodiscard]] int stop_signal();

}  // namespace dts::train
