// SPDX-License-Identifier: Apache-2.0
// Creates mount points in a root file system that is a folder here.
#pragma once

#include "core/base/result.hpp"

#include <string>

namespace dts {

// Creates the missing parts of `target`, an absolute path without "..", below the folder `root`:
// folders, and at the end a folder or an empty file. Existing parts stay. Several processes may do
// this at once. Errc::invalid for a symbolic link on the way, which would lead out of `root`.
[[nodiscard]] Result<void> make_mount_point(const std::string& root,
                                            const std::string& target,
                                            bool is_folder);

}  // namespace dts
