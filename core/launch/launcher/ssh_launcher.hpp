// SPDX-License-Identifier: Apache-2.0
// `dtsubmit ssh`: the launcher for --hosts. One ssh(1) per host starts `dtsubmit node` there, which
// starts the host's ranks. Their output goes to our standard error, with the host's name.
#pragma once

#include "core/base/result.hpp"

#include <string>
#include <vector>

namespace dts::launch {

// `ssh` is the user's ssh command. Its options take precedence over ours, because ssh_config(5)
// uses the first value of an option. No password is requested and nothing is forwarded. We give up
// a host that does not answer after some seconds, and one that falls silent after a minute.
[[nodiscard]] std::vector<std::string> with_ssh_options(std::vector<std::string> ssh);

// with_ssh_options() for a command on `host`. The remote shell only has to exec `words`, each of
// which is single-quoted.
[[nodiscard]] std::vector<std::string> ssh_command(const std::vector<std::string>& ssh,
                                                   const std::string& host,
                                                   const std::vector<std::string>& words);

// Blocks until every host's ssh has ended. Returns 0 if all rank processes succeeded. The first
// failure is reported to the agent, which ends the attempt.
[[nodiscard]] Result<int> run_ssh_launcher(const std::string& run_directory, unsigned attempt);

}  // namespace dts::launch
