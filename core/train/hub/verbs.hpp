// SPDX-License-Identifier: Apache-2.0
// `dttrain inspect`, `export` and `convert`. Each function takes the words after the verb, reports
// errors on standard error and returns the exit code.
#pragma once

#include <string>
#include <vector>

namespace dts::train {

// Prints the model, sizes, tensors and memory of a Hugging Face folder or a checkpoint.
[[nodiscard]] int inspect_main(const std::vector<std::string>& words);

// Converts a checkpoint, or the newest in a folder of checkpoints, to a Hugging Face folder.
[[nodiscard]] int export_main(const std::vector<std::string>& words);

// Converts a Hugging Face folder to another one, with other types or sizes of files.
[[nodiscard]] int convert_main(const std::vector<std::string>& words);

}  // namespace dts::train
