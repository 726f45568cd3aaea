// SPDX-License-Identifier: Apache-2.0
// What code outside of jobs needs to know about the launchers. Pure, thread-safe.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace dts::spec {

enum class Launcher {
  automatic,  // chosen inside the job: the first that is available
#define DTS_LAUNCHER(name, ...) name,
#include "core/spec/launchers.inc"
#undef DTS_LAUNCHER
};

struct LauncherRow {
  Launcher launcher = Launcher::automatic;
  const char* name = "";                  // as --launcher takes it
  const char* hosts = nullptr;            // why it cannot start ranks on --hosts; nullptr if it can
  std::vector<std::string_view> leaks{};  // prefixes of the variables that it sets in its processes
};

// All but `automatic`, in the order in which `automatic` tries them.
[[nodiscard]] const std::vector<LauncherRow>& built_in_launchers();

// "auto", "mpirun", ...
[[nodiscard]] const char* to_string(Launcher launcher);
[[nodiscard]] std::optional<Launcher> launcher_from(std::string_view name);

// JobSpec::ssh_command, split into words; "ssh" if it is empty.
[[nodiscard]] std::vector<std::string> ssh_words(const std::string& ssh_command);

}  // namespace dts::spec
