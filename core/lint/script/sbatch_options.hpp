// SPDX-License-Identifier: Apache-2.0
// The options of sbatch, as #SBATCH lines and its command line spell them. Pure, thread-safe; the
// tables are constant.
#pragma once

#include "core/base/release.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace dts::lint {

enum class Takes { nothing, value, perhaps };

struct SbatchOption {
  std::string_view name;  // without dashes
  char letter = 0;        // 0: none
  Takes takes = Takes::value;
  Release since{};  // the first release with the option; {}: 22.05 or earlier
  Release until{};  // the first release without it; {}: the latest has it
};

// Finds an option by its long name, or an unambiguous prefix of it, as getopt_long(3) does. Null:
// unknown or ambiguous.
[[nodiscard]] const SbatchOption* find_sbatch_option(std::string_view name);
[[nodiscard]] const SbatchOption* find_sbatch_option(char letter);

// All long names, for suggestions.
[[nodiscard]] std::vector<std::string> sbatch_option_names();

// True for options of well-known plug-ins (pyxis, Shifter, uenv), which a site's sbatch may have.
[[nodiscard]] bool is_plugin_option(std::string_view name);

// True for options of srun that sbatch lacks.
[[nodiscard]] bool is_srun_option(std::string_view name);

// True if this option of srun takes no value: "--label", 'l'.
[[nodiscard]] bool is_srun_flag(std::string_view name);
[[nodiscard]] bool is_srun_flag(char letter);

}  // namespace dts::lint
