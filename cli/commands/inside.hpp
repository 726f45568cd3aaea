// SPDX-License-Identifier: Apache-2.0
// The verbs that dtsubmit itself uses inside a job: agent, rank, orted, prted, sentinel, ssh, node,
// stage, unstage, probe. Not for users.
#pragma once

#include "core/base/result.hpp"

#include <string>
#include <vector>

namespace dts::cli {

// Recognised by the first word, or by hydra-srun after options, as Intel MPI puts some of srun's
// first.
[[nodiscard]] bool is_inside_verb(const std::vector<std::string>& words);

// `words`: the verb and its options; `command`: the words after `--`.
[[nodiscard]] Result<int> run_inside_verb(const std::vector<std::string>& words,
                                          const std::vector<std::string>& command);

}  // namespace dts::cli
