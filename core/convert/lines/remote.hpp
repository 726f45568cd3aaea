// SPDX-License-Identifier: Apache-2.0
// Commands that run others on nodes of their own: ssh, pdsh and clush. Pure.
#pragma once

#include "core/lint/script/runs.hpp"

namespace dts::convert {

// True if one of the commands that it runs there is a training: ssh $node "cd $PWD && python
// train.py". Not for commands that only name one: ssh $node pkill python.
[[nodiscard]] bool trains_elsewhere(const lint::Run& run);

}  // namespace dts::convert
