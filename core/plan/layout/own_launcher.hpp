// SPDX-License-Identifier: Apache-2.0
// A program that starts processes of its own, one for each GPU, as torchrun does. Started once for
// each GPU it would make of 8 processes 64 that all think they are one of 8. Pure.
#pragma once

#include <string>
#include <vector>

namespace dts::plan {

struct OwnLauncher {
  enum class Kind {
    none,
    torchrun,  // takes nodes, processes and rendezvous from the variables that ranks are given
    other,     // must be configured for several nodes by its own means, or reaches them itself
  };

  Kind kind = Kind::none;
  std::string name{};                // "torchrun", "accelerate launch", "deepspeed"
  std::string wrapper{};             // the wrapper before it: "uv run", "bash -c"; empty: none
  std::vector<std::string> words{};  // its own words, the first one included
};

// The first launcher that `command` certainly starts: directly, as a Python module, through
// programs that run another one (env, uv run, conda run, singularity exec, numactl, nsys profile,
// ...) or in a shell's command text (bash -c). Kind::none also if only reading a file could show
// it.
[[nodiscard]] OwnLauncher find_own_launcher(const std::vector<std::string>& command);

}  // namespace dts::plan
