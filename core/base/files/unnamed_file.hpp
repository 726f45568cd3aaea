// SPDX-License-Identifier: Apache-2.0
// Files without a name, of which nothing remains if the process is killed.
#pragma once

#include "core/base/files/unique_fd.hpp"

#include <string>

namespace dts {

// A file of mode 0600 in `folder`, open for reading and writing. Invalid on failure, with errno.
// Thread-safe.
[[nodiscard]] UniqueFd unnamed_file(const std::string& folder);

}  // namespace dts
