// SPDX-License-Identifier: Apache-2.0
// Locations of the configuration files.
#pragma once

#include <optional>
#include <string>

namespace dts::cli {

// DTSUBMIT_SITE_FOLDER, otherwise /etc/dtsubmit.
[[nodiscard]] std::string site_folder();

// dtsubmit in XDG_CONFIG_HOME, otherwise in ~/.config (XDG Base Directory Specification 0.8);
// nullopt if neither variable holds an absolute path.
[[nodiscard]] std::optional<std::string> user_folder();

// The nearest .dtsubmit.toml in `folder`, an absolute path, or its parents, up to the root of a git
// repository or `home`.
[[nodiscard]] std::optional<std::string> find_project_file(const std::string& folder,
                                                           const std::string& home);

}  // namespace dts::cli
