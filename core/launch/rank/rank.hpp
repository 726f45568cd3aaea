// SPDX-License-Identifier: Apache-2.0
// `dtsubmit rank`: the process around one rank's program, started by the launcher. It says hello to
// the agent, gets its placement, binds itself, verifies the binding, runs the program in its own
// process group, forwards the stop signal, reports the exit and leaves nothing behind.
#pragma once

#include "core/base/result.hpp"
#include "core/launch/launcher/identity.hpp"

#include <optional>
#include <string>
#include <vector>

namespace dts::launch {

struct RankOptions {
  std::string run_directory;
  unsigned attempt = 1;
  std::vector<std::string> command;  // the program's argv
  // Set by `dtsubmit node`, which passes identity and node name directly instead of in variables.
  std::optional<Identity> identity;
  std::string node;
};

// Blocks until the program has ended. Returns our own exit code: 0 whenever the agent knows the
// outcome, so that the launcher does not add a verdict of its own.
[[nodiscard]] Result<int> run_rank(const RankOptions& options);

}  // namespace dts::launch
