// SPDX-License-Identifier: Apache-2.0
// The options of launchers: their names, and how many values they have. Pure, thread-safe.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace dts::lint {

// The long name of srun's option -`letter`; the letter itself if there is no such option.
[[nodiscard]] std::string srun_option_name(char letter);

// The number of words after an option of mpirun or mpiexec that are its values. `name` has no
// leading dashes. 1 for an unknown option.
[[nodiscard]] std::size_t values_of_mpirun_option(std::string_view name);

}  // namespace dts::lint
