// SPDX-License-Identifier: Apache-2.0
// The options that sbatch knows, as #SBATCH lines and its command line spell them. Pure,
// thread-safe; the tables are constant.
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
  Release since{};  // the first release that has it; {}: 22.05 or before
  Release until{};  // the first release that does not; {}: the newest has it
};

// By its long name or the beginning of one that no other option has, as getopt_long(3) accepts it.
// Null: unknown or ambiguous.
[[nodiscard]] const SbatchOption* find_sbatch_option(std::string_view name);
[[nodiscard]] const SbatchOption* find_sbatch_option(char letter);

// All long names, for suggestions.
[[nodiscard]] std::vector<std::string> sbatch_option_names();

// Options of well-known plug-ins (pyxis, Shifter, uenv): a site's sbatch may have them.
[[nodiscard]] bool is_plugin_option(std::string_view name);

// Options that srun has and sbatch lacks.
[[nodiscard]] bool is_srun_option(std::string_view name);

// Whether srun's option stands alone: "--label", 'l'.
[[nodiscard]] bool is_srun_flag(std::string_view name);
[[nodiscard]] bool is_srun_flag(char letter);

}  // namespace dts::lint
