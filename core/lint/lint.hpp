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

// Everything that the rules find in a script, sorted by place, without what its comments suppress:
//   # dtsubmit: disable=RULE,RULE      behind a command: on this line; on a line of its own: on the
//                                      next one, or everywhere if no command stands before it
// `all` stands for every rule.
[[nodiscard]] std::vector<Finding> lint_script(std::string_view text, const Options& options);

// The same for a text that is no script, by the rules that read any.
[[nodiscard]] std::vector<Finding> lint_any_text(std::string_view text, const Options& options);

// The same for lines of shell that a job file has, by the rules that read them, without edits.
[[nodiscard]] std::vector<Finding> lint_lines(std::string_view lines, const Options& options);

// The script with all edits of these findings; of two that overlap, the first is made.
[[nodiscard]] std::string apply_edits(std::string_view text, const std::vector<Finding>& findings);

}  // namespace dts::lint
