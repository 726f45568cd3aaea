// SPDX-License-Identifier: Apache-2.0
// Finds mistakes in batch scripts. Pure, thread-safe.
#pragma once

#include "core/lint/rule.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace dts::lint {

// Slurm's limit on a batch script (SchedulerParameters=max_script_size, 4 MiB unless set).
inline constexpr std::size_t k_largest_script = std::size_t{4} << 20;

struct Options {
  Site site;
  std::vector<std::string> disabled{};  // rule ids
  Severity least = Severity::note;
  std::string file_name{};  // without folders
};

// All findings of the rules in a script, sorted by place, except those that the script's comments
// suppress:
//   # dtsubmit: disable=RULE,RULE      after a command: for this line; on a line of its own: for
//   the
//                                      next line, or for the script if no command precedes it
// `all` stands for every rule.
[[nodiscard]] std::vector<Finding> lint_script(std::string_view text, const Options& options);

// Checks text that is not a script, with the rules that read any text.
[[nodiscard]] std::vector<Finding> lint_any_text(std::string_view text, const Options& options);

// Checks the shell lines of a job file, with the rules that read such lines. Findings have no
// edits.
[[nodiscard]] std::vector<Finding> lint_lines(std::string_view lines, const Options& options);

// The script with the edits of all findings applied; if two edits overlap, only the first is.
[[nodiscard]] std::string apply_edits(std::string_view text, const std::vector<Finding>& findings);

}  // namespace dts::lint
