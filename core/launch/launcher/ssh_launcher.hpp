// SPDX-License-Identifier: Apache-2.0
// `dtsubmit ssh`: the launcher of --hosts. One ssh(1) for each host starts `dtsubmit node` there,
// which starts its ranks; their output goes to standard error with the host's name.
#pragma once

#include "core/base/result.hpp"

#include <string>
#include <vector>

namespace dts::launch {

// `ssh` is the user's ssh command, whose options win over ours: ssh_config(5) uses the first value
// of each. No password is asked for, nothing is forwarded; a host that does not answer is given up
// after seconds, one that falls silent after a minute.
[[nodiscard]] std::vector<std::string> with_ssh_options(std::vector<std::string> ssh);

// That, for a command on `host`: the remote shell only has to exec `words`, each in single quotes.
[[nodiscard]] std::vector<std::string> ssh_command(const std::vector<std::string>& ssh,
                                                   const std::string& host,
                                                   const std::vector<std::string>& words);

// Blocks until every host's ssh has ended. Returns 0 if all rank processes succeeded. The first
// failure is reported to the agent, which ends the attempt.
[[nodiscard]] Result<int> run_ssh_launcher(const std::string& run_directory, unsigned attempt);

}  // namespace dts::launch
