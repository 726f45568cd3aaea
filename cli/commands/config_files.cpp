// SPDX-License-Identifier: Apache-2.0
#include "cli/commands/config_files.hpp"

#include "core/base/files/files.hpp"
#include "core/base/os/environment.hpp"

namespace dts::cli {
namespace {

std::optional<std::string> absolute_variable(const char* name) {
  auto value = getenv_lookup(name);
  return value && !value->empty() && value->front() == '/' ? value : std::nullopt;
}

}  // namespace

std::string site_folder() {
  return absolute_variable("DTSUBMIT_SITE_FOLDER").value_or("/etc/dtsubmit");
}

std::optional<std::string> user_folder() {
  if (const auto base = absolute_variable("XDG_CONFIG_HOME")) return *base + "/dtsubmit";
  if (const auto home = absolute_variable("HOME")) return *home + "/.config/dtsubmit";
  return std::nullopt;
}

std::optional<std::string> find_project_file(const std::string& folder, const std::string& home) {
  std::string at = folder;
  while (true) {
    const std::string file = (at == "/" ? "" : at) + "/.dtsubmit.toml";
    if (exists(file)) return file;
    if (at.empty() || at == "/" || at == home || exists(at + "/.git")) return std::nullopt;
    const std::size_t slash = at.rfind('/');
    if (slash == std::string::npos) return std::nullopt;
    at.resize(slash == 0 ? 1 : slash);
  }
}

}  // namespace dts::cli
