// SPDX-License-Identifier: Apache-2.0
// Places in a root file system, which is a folder here, for something to be mounted on.
#pragma once

#include "core/base/result.hpp"

#include <string>

namespace dts {

// Makes what `target`, a full path without "..", lacks below the folder `root`: folders, and at its
// end a folder or an empty file. What is there stays. Several processes may do it at once. Errors:
// a symbolic link on the way, which would lead out of `root`, is Errc::invalid.
[[nodiscard]] Result<void> make_mount_point(const std::string& root,
                                            const std::string& target,
                                            bool is_folder);

}  // namespace dts
