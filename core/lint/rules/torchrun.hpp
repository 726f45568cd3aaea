// SPDX-License-Identifier: Apache-2.0
// What torchrun does unless it is told otherwise. Pure, thread-safe.
#pragma once

#include "core/lint/script/program.hpp"
#include "core/lint/script/subject.hpp"

#include <optional>

namespace dts::lint {

// The option that asks for several nodes of a torchrun that is told no address: its --master-addr
// is 127.0.0.1 then, and of variables it reads PET_MASTER_ADDR and the like, not MASTER_ADDR
// (torch/distributed/run.py).
[[nodiscard]] std::optional<ProgramOption> nodes_without_address(const Subject& subject,
                                                                 const Run& run);

}  // namespace dts::lint
