// SPDX-License-Identifier: Apache-2.0
// The file that a command's interpreter reads, for a check before the job waits in the queue. Pure.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace dts::plan {

// "src/train.py" for `uv run torchrun --nproc_per_node 8 src/train.py`, "train.sh" for `bash -e
// train.sh`. nullopt if the command names none, names it in a shell's text, or looks for it in a
// container or in another folder.
[[nodiscard]] std::optional<std::string> script_file(const std::vector<std::string>& command);

}  // namespace dts::plan
