// SPDX-License-Identifier: Apache-2.0
// The launcher's own numbers of a rank, where the program starts processes with other numbers.
#pragma once

#include "core/plan/plan.hpp"

#include <vector>

namespace dts::launch {

// The names of variables that a program must not inherit. The processes of torchrun and the like
// have ranks of their own, and the numbers that mpirun gave their parent would contradict them:
// DeepSpeed refuses to start if OMPI_COMM_WORLD_LOCAL_RANK is not LOCAL_RANK (runtime/engine.py,
// _configure_with_arguments). Empty if the program is a rank itself. `variables`: what it gets.
// Pure.
[[nodiscard]] std::vector<const char*> ranks_to_forget(const plan::Environment& variables);

}  // namespace dts::launch
