// SPDX-License-Identifier: Apache-2.0
// Ensures that only one caller at a time works on a cluster's folder. The lock is on the folder
// itself, so no file is left behind.
#pragma once

#include "core/base/files/unique_fd.hpp"
#include "core/base/result.hpp"

#include <chrono>
#include <string>

namespace dts::cluster {

enum class IfAbsent { create, leave };

// Holds flock(2) on the folder for the lifetime of the value; programs do not inherit it. An
// invalid fd without an error means that the folder is absent (IfAbsent::leave). Errc::io if
// another process holds the lock for `limit`; Errc::invalid if the folder belongs to another user.
[[nodiscard]] Result<UniqueFd> lock_folder(const std::string& folder,
                                           IfAbsent if_absent,
                                           std::chrono::milliseconds limit);

}  // namespace dts::cluster
