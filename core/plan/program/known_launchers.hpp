// SPDX-License-Identifier: Apache-2.0
// The launchers and wrappers that find_own_launcher() recognises, one row each.
#pragma once

#include "core/plan/program/own_launcher.hpp"

#include <span>
#include <string_view>

namespace dts::plan {

struct KnownLauncher {
  std::string_view program;  // its file name, or "-m MODULE" for Python
  std::string_view verb{};   // the words that make it a launcher; empty: it always is one
  OwnLauncher::Kind kind = OwnLauncher::Kind::other;
  std::string_view count{};  // its option for processes per node, with aliases
  bool counts_all = false;   // the option counts the processes of all nodes
  std::span<const PlaceOption> place_options{};
  // What to advise on several nodes if no option can tell the launcher its place.
  std::string_view instead{};
  std::string_view
      single{};  // with this option it starts one process on a node, whatever `count` says
};

[[nodiscard]] std::span<const KnownLauncher> known_launchers();

// A program that runs the program in its words.
struct KnownWrapper {
  std::string_view program;
  std::string_view verb{};        // "run" of `uv run`; empty: none
  std::string_view with_value{};  // options whose value is the next word: "-u --unset"
  unsigned operands = 0;          // positional words before the program: a container's image
  bool hides_variables = false;   // a container that only gets the variables that its options name
  bool is_container = false;
  std::string_view folder_options{};  // with one of these, the program starts in another folder
};

[[nodiscard]] std::span<const KnownWrapper> known_wrappers();

// By file name: "podman", "bwrap".
[[nodiscard]] bool is_container_runtime(std::string_view name);

}  // namespace dts::plan
