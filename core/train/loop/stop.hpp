// SPDX-License-Identifier: Apache-2.0
// Stop requests: signals stay pending until the training loop asks for them between steps.
#pragma once

#include "core/base/result.hpp"

namespace dts::train {

// From now on SIGTERM, SIGINT, SIGUSR1 and SIGUSR2 are kept for stop_signal(). Call this once,
// before threads start. No signal handler may run while a rank computes: the matrix products of
// oneDNN 2 use the stack pointer as an ordinary register (found in 2.6 on AVX-512), so the kernel
// would write the handler's frame into the middle of the heap.
[[nodiscard]] Result<void> take_stop_signals();

// The number of the first such signal, or 0 if none has arrived. Not thread-safe.
[[nodiscard]] int stop_signal();

}  // namespace dts::train
