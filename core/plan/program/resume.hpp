// SPDX-License-Identifier: Apache-2.0
// The arguments of a program that has to be told to continue: --resume. Pure, thread-safe.
#pragma once

#include <string>
#include <vector>

namespace dts::plan {

// The words, separated by blanks, with this checkpoint for {} and its folder for {dir}.
[[nodiscard]] std::vector<std::string> resume_arguments(const std::string& words,
                                                        const std::string& checkpoint);

}  // namespace dts::plan
