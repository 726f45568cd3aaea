// SPDX-License-Identifier: Apache-2.0
// `dtsubmit ssh`: the launcher of --hosts. One ssh(1) a host starts `dtsubmit node` there, which
// starts its ranks; what each says goes to standard error with the host's name.
#pragma once

#include "core/base/result.hpp"

#include <string>
#include <vector>

namespace dts::launch {

// `ssh` are the user's words, whose options win over ours: ssh_config(5) takes the first value of
// each. Nobody is asked for a password, nothing is forwarded, a host that does not answer is given
// up after seconds, one that falls silent after a minute. Of the remote shell nothing is expected
// but that it execs a path in single quotes.
[[nodiscard]] std::vector<std::string> ssh_command(const std::vector<std::string>& ssh,
                                                   const std::string& host,
                                                   const std::string& dtsubmit);

// Blocks until every host's ssh has ended. 0 if all ranks' processes succeeded. The first failure
// is reported to the agent, which ends the attempt.
[[nodiscard]] Result<int> run_ssh_launcher(const std::string& run_directory, unsigned attempt);

}  // namespace dts::launch
