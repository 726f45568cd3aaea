// SPDX-License-Identifier: Apache-2.0
// The defaults of torchrun. Pure, thread-safe.
#pragma once

#include "core/lint/script/program.hpp"
#include "core/lint/script/subject.hpp"

#include <optional>

namespace dts::lint {

// The option that requests several nodes from a torchrun without an address. Its --master-addr is
// 127.0.0.1 by default, and the variables that it reads are PET_MASTER_ADDR and the like, not
// MASTER_ADDR (torch/distributed/run.py).
[[nodiscard]] std::optional<ProgramOption> nodes_without_address(const Subject& subject,
                                                                 const Run& run);

}  // namespace dts::lint
