// SPDX-License-Identifier: Apache-2.0
// Stores a user's quarantine: one file per cluster in the user's state folder.
#pragma once

#include "core/run/index/quarantine.hpp"

#include <string>
#include <vector>

namespace dts::run {

// The file of a cluster: quarantine/<cluster>.jsonl in state_folder(). Errc::invalid for a name
// that is not usable as a file name.
[[nodiscard]] Result<std::string> quarantine_path(const std::string& cluster);

// The clusters that have a quarantine file, sorted.
[[nodiscard]] std::vector<std::string> quarantine_clusters();

// Reads all strikes; none if the file is absent. Errors: Errc::io.
[[nodiscard]] Result<std::vector<Strike>> read_strikes(const std::string& path);

// A sentence about damaged lines of the file, which were skipped; empty if there are none.
[[nodiscard]] std::string strikes_damage(const std::string& path);

// Appends the strikes, each with one write(2), with the time `now`; creates the file (mode 0600)
// and its folder (0700) if absent. One process at a time; drops strikes that no longer matter once
// the file has 256 KiB.
[[nodiscard]] Result<void> add_strikes(const std::string& path,
                                       std::vector<Strike> strikes,
                                       WallTime now);

}  // namespace dts::run
