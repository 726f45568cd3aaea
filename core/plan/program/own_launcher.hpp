// SPDX-License-Identifier: Apache-2.0
// A program that starts its own processes, one per GPU, as torchrun does. If it were started once
// per GPU, 8 processes would become 64, each believing to be one of 8. Pure.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace dts::plan {

// An option that tells a launcher its place in the job.
struct PlaceOption {
  enum class Fact { nodes, node_rank, address, port, workers, all_workers, yes };

  std::string_view names;  // "--nproc -n": the first is inserted, unless the user wrote any of them
  Fact what;
  bool nodes_only = false;  // not needed on a single node
};

struct OwnLauncher {
  enum class Kind {
    none,
    torchrun,    // takes nodes, processes and rendezvous from the ranks' variables
    node,        // one per node, given its place by options, see launcher_words.hpp
    other,       // starts the ranks of a whole job, so must not run inside one
    submission,  // submits another job; in a shell's text that may well be intended
    stored,      // runs what is stored for another job, under that job's number
  };

  // The place in the command at which options for the launcher can be inserted.
  struct Place {
    std::size_t argument = 0;  // inserted before this one
    // If this argument is a shell's text: insert after this byte of it.
    std::optional<std::size_t> offset{};
  };

  Kind kind = Kind::none;
  std::string name{};                // "torchrun", "accelerate launch", "deepspeed"
  std::string wrapper{};             // the wrapper before it: "uv run", "bash -c"; empty: none
  std::vector<std::string> words{};  // its own words, including the first
  std::size_t arguments = 0;         // index in `words` after its name and verb
  std::optional<Place> place{};      // nullopt: in a shell's text within another shell's text
  std::string_view count{};          // see KnownLauncher
  bool counts_all = false;
  std::vector<PlaceOption> place_options{};
  std::string_view instead{};
  std::string_view single{};
  std::string hidden_behind{};  // the wrapper that hides our variables from it; empty: none
};

// The first launcher that `command` certainly starts: directly, as a Python module, through
// programs that run another one (env, uv run, conda run, singularity exec, numactl, nsys profile,
// ...) or in a shell's command text (bash -c). Kind::none also if that could only be found by
// reading a file.
[[nodiscard]] OwnLauncher find_own_launcher(const std::vector<std::string>& command);

// True for a launcher that is started once on each node and starts the processes of its node.
[[nodiscard]] bool starts_processes_of_node(const OwnLauncher& launcher);

// The index in the launcher's words of the program that it starts, as far as these show it: a
// Python file, or what follows -m, --module or --no-python. The number of words if there is none.
[[nodiscard]] std::size_t program_at(const OwnLauncher& launcher);

// The value that the launcher's own options give one of `names` ("--nproc -n"; - and _ are
// equivalent), empty for a flag. nullopt: none of them is among the words before
// program_at().
[[nodiscard]] std::optional<std::string> option_of(const OwnLauncher& launcher,
                                                   std::string_view names);

}  // namespace dts::plan
