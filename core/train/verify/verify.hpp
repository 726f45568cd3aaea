// SPDX-License-Identifier: Apache-2.0
// `dttrain verify`: where two trainings that should be equal part.
#pragma once

#include <string>
#include <vector>

namespace dts::train {

// Takes the words behind the verb, prints what it finds, and reports errors on standard error.
// Returns 0 if all that both have is equal, 1 if something differs, otherwise an error's exit code:
// 2 for the command line, 3 for files that are not what they should be or runs that have nothing in
// common, 6 for what is not there, 74 for what cannot be read.
[[nodiscard]] int verify_main(const std::vector<std::string>& words);

}  // namespace dts::train
