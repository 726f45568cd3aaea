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
    other,     // has to be told of other nodes in ways of its own, or reaches them itself
  };

  Kind kind = Kind::none;
  std::string name{};                // "torchrun", "accelerate launch", "deepspeed"
  std::string wrapper{};             // what it is behind: "uv run", "bash -c"; empty: nothing
  std::vector<std::string> words{};  // its own words, the first one included
};

// The first launcher that `command` certainly starts: bare, as a module of Python, behind programs
// that run another one (env, uv run, conda run, singularity exec, numactl, nsys profile, ...) and
// in the text of a shell (bash -c). Kind::none also where only a look into a file could tell.
[[nodiscard]] OwnLauncher find_own_launcher(const std::vector<std::string>& command);

}  // namespace dts::plan
