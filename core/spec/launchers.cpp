// SPDX-License-Identifier: Apache-2.0
#include "core/spec/launchers.hpp"

#include "core/base/text/text.hpp"

namespace dts::spec {

const std::vector<LauncherRow>& built_in_launchers() {
  static const std::vector<LauncherRow> rows{
#define DTS_LAUNCHER(name, hosts, ...) {Launcher::name, #name, hosts, {__VA_ARGS__}},
#include "core/spec/launchers.inc"
#undef DTS_LAUNCHER
  };
  return rows;
}

const char* to_string(Launcher launcher) {
  for (const LauncherRow& row : built_in_launchers())
    if (row.launcher == launcher) return row.name;
  return "auto";
}

std::optional<Launcher> launcher_from(std::string_view name) {
  if (name == "auto") return Launcher::automatic;
  for (const LauncherRow& row : built_in_launchers())
    if (name == row.name) return row.launcher;
  return std::nullopt;
}

std::vector<std::string> ssh_words(const std::string& ssh_command) {
  std::vector<std::string> words = split(ssh_command, ' ');
  std::erase(words, "");
  if (words.empty()) words = {"ssh"};
  return words;
}

}  // namespace dts::spec
