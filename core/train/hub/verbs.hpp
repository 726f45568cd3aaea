// SPDX-License-Identifier: Apache-2.0
// `dttrain inspect`, `export` and `convert`. Each takes the words behind the verb, reports errors
// on standard error and returns the exit code.
#pragma once

#include <string>
#include <vector>

namespace dts::train {

// The model, sizes, tensors and memory of a folder of Hugging Face's or of a checkpoint.
[[nodiscard]] int inspect_main(const std::vector<std::string>& words);

// A checkpoint, or the newest in a folder of them, to a folder of Hugging Face's.
[[nodiscard]] int export_main(const std::vector<std::string>& words);

// A folder of Hugging Face's to another one, with other types or sizes of files.
[[nodiscard]] int convert_main(const std::vector<std::string>& words);

}  // namespace dts::train
