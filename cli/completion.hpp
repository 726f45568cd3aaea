// SPDX-License-Identifier: Apache-2.0
// The words that a shell offers when a user presses the Tab key: `dtsubmit complete -- WORD...`,
// which cli/completion/dtsubmit.bash calls. Pure.
#pragma once

#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace dts::cli {

// The names of the commands directly below `app`.
[[nodiscard]] std::vector<std::string> command_names(const CLI::App& app);

// The long names, "--nodes".
[[nodiscard]] std::vector<std::string> option_names(const CLI::App& command);

// The words that may replace the last of `words` (the words after `dtsubmit`, up to the cursor),
// sorted: commands, options, an option's accepted values, or `runs` where a job is named. Empty
// where anything may follow, for instance a file or the program after `--`. `app` must have all
// commands and options.
[[nodiscard]] std::vector<std::string> completions(const CLI::App& app,
                                                   const std::vector<std::string>& words,
                                                   const std::vector<std::string>& runs);

}  // namespace dts::cli
