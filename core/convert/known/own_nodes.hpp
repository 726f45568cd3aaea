// SPDX-License-Identifier: Apache-2.0
// What a command of srun says of the nodes of its step, srun(1). Pure.
#pragma once

#include "core/shell/syntax.hpp"

#include <cstddef>
#include <optional>

namespace dts::convert {

// srun --nodelist=HOSTS; with --relative=N, `word` is the place of the step's first node.
struct OwnNodes {
  shell::Word word;
  bool is_relative = false;
};

// Where in the job a step runs, as the script writes it, before the `end`th byte of `command`;
// nullopt if it does not say.
[[nodiscard]] std::optional<OwnNodes> own_nodes_of(const shell::Command& command, std::size_t end);

}  // namespace dts::convert
