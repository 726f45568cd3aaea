// SPDX-License-Identifier: Apache-2.0
// The training run of one rank, from data to exit code.
#pragma once

#include "core/train/comm/comm.hpp"
#include "core/train/options/options.hpp"

namespace dts::train {

// Collective: every rank calls it with equal options and gets the same exit code. The lowest rank
// that failed reports the reason on standard error; rank 0 reports progress on standard output.
// Call it after take_stop_signals().
[[nodiscard]] int train(Comm& comm, const Options& options);

}  // namespace dts::train
