// SPDX-License-Identifier: Apache-2.0
// What a command starts: the launcher, its options, and the program. Pure, thread-safe.
#pragma once

#include "core/lint/script/program.hpp"
#include "core/lint/script/values.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace dts::lint {

enum class Launcher { none, srun, mpirun, other };  // other: pdsh, ssh, ibrun, aprun ...

struct LaunchOption {
  std::string name;   // for srun: its long name, "ntasks"
  std::string value;  // may be unknown
  shell::Span span;
};

struct Launch {
  Launcher launcher = Launcher::none;
  std::vector<LaunchOption> options;  // of the launcher
  bool has_unknown_options = false;   // some of the options come from variables
  std::size_t launcher_at = 0;        // index of the launcher's word
  std::size_t command_at = 0;         // index of the first word after the launcher's options
  std::size_t program_at = 0;         // index of the program's word; words.size(): none
  std::string program;                // its file name: "torchrun", "python"
  bool starts_processes = false;      // one per GPU: torchrun, accelerate launch, deepspeed

  [[nodiscard]] const LaunchOption* option(std::string_view name) const;
};

// True for srun, mpirun or one of mpirun's other names, with or without its folder.
[[nodiscard]] bool is_launcher(const std::string& word);

[[nodiscard]] Launch launch_of(const std::vector<ExpandedWord>& words);

}  // namespace dts::lint
