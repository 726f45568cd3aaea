// SPDX-License-Identifier: Apache-2.0
// What earlier checks of a cluster leave behind: the baseline, and nodes in quarantine.
#pragma once

#include "core/base/result.hpp"
#include "core/check/verdict.hpp"

#include <optional>
#include <string>

namespace dts::cli {

// baseline/<cluster>.json in state_folder(). Errors: those of state_folder(), and Errc::invalid for
// a name that is not usable as a file name.
[[nodiscard]] Result<std::string> baseline_path(const std::string& cluster);

// The facts in that file; nullopt if it does not exist. Errors name the file.
[[nodiscard]] Result<std::optional<check::Facts>> read_baseline(const std::string& path);

[[nodiscard]] Result<void> save_baseline(const std::string& path, const std::string& document);

// Puts unfit nodes into the quarantine of `cluster`, each with its first reason. Returns their
// number.
[[nodiscard]] Result<std::size_t> quarantine(const check::Verdict& verdict,
                                             const std::string& cluster,
                                             const std::string& run);

}  // namespace dts::cli
