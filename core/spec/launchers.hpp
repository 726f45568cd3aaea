// SPDX-License-Identifier: Apache-2.0
// The launchers, as far as code that runs before the job needs to know them. Pure, thread-safe.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

namespace dts::spec {

enum class Launcher {
  automatic,  // chosen in the job: the first available one
#define DTS_LAUNCHER(name, ...) name,
#include "core/spec/launchers.inc"
#undef DTS_LAUNCHER
};

struct LauncherRow {
  Launcher launcher = Launcher::automatic;
  const char* name = "";                  // of --launcher
  const char* hosts = nullptr;            // why it cannot start ranks on --hosts; nullptr: it can
  std::vector<std::string_view> leaks{};  // prefixes of the variables that it sets in its processes
};

// All but `automatic`, in the order in which it tries them.
[[nodiscard]] const std::vector<LauncherRow>& built_in_launchers();

// "auto", "mpirun", ... and the inverse.
[[nodiscard]] const char* to_string(Launcher launcher);
[[nodiscard]] std::optional<Launcher> launcher_from(std::string_view name);

}  // namespace dts::spec
