// SPDX-License-Identifier: Apache-2.0
// `dttrain verify`: finds where two trainings that should be equal diverge.
#pragma once

#include <string>
#include <vector>

namespace dts::train {

// Takes the words after the verb, prints its findings, and reports errors on standard error.
// Returns 0 if everything that both have is equal, 1 if something differs, otherwise the exit code
// of an error: 2 for the command line, 3 for invalid files or runs that have nothing in common, 6
// for missing files, 74 for files that cannot be read.
[[nodiscard]] int verify_main(const std::vector<std::string>& words);

}  // namespace dts::train
