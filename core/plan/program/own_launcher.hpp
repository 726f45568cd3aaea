// SPDX-License-Identifier: Apache-2.0
// A program that starts processes of its own, one for each GPU, as torchrun does. Started once for
// each GPU it would make of 8 processes 64 that all think they are one of 8. Pure.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace dts::plan {

// An option that gives a launcher its place in the job.
struct ToldOption {
  enum class What { nodes, node_rank, address, port, workers, all_workers, yes };

  std::string_view names;  // "--nproc -n": the first is written, any means that the user did
  What what;
  bool nodes_only = false;  // on one node it is not needed
};

struct OwnLauncher {
  enum class Kind {
    none,
    torchrun,  // takes nodes, processes and rendezvous from the variables that ranks are given
    node,      // one on each node, given its place by options, see launcher_words.hpp
    other,     // starts the ranks of a whole job: none is to be inside one
  };

  // Where options for the launcher can be inserted into the command.
  struct Place {
    std::size_t argument = 0;  // before this one
    // In the argument's text, the shell's, after this byte.
    std::optional<std::size_t> offset{};
  };

  Kind kind = Kind::none;
  std::string name{};                // "torchrun", "accelerate launch", "deepspeed"
  std::string wrapper{};             // the wrapper before it: "uv run", "bash -c"; empty: none
  std::vector<std::string> words{};  // its own words, the first one included
  std::size_t arguments = 0;         // of `words`: the first one after its name and verb
  std::optional<Place> place{};      // nullopt: in a shell's text within another
  std::string_view count{};          // see KnownLauncher
  bool counts_all = false;
  std::vector<ToldOption> told{};
  std::string_view instead{};
  std::string_view single{};
  std::string hidden_behind{};  // the wrapper that gives it none of our variables; empty: none does
};

// The first launcher that `command` certainly starts: directly, as a Python module, through
// programs that run another one (env, uv run, conda run, singularity exec, numactl, nsys profile,
// ...) or in a shell's command text (bash -c). Kind::none also if only reading a file could show
// it.
[[nodiscard]] OwnLauncher find_own_launcher(const std::vector<std::string>& command);

// The value that the launcher's own options give one of `names` ("--nproc -n"; - and _ are one),
// empty for a flag; nullopt: it is not among the words before the program that it starts.
[[nodiscard]] std::optional<std::string> option_of(const OwnLauncher& launcher,
                                                   std::string_view names);

}  // namespace dts::plan
