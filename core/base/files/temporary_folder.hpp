// SPDX-License-Identifier: Apache-2.0
// A folder for temporary use. Thread-safe.
#pragma once

#include "core/base/result.hpp"

#include <string>
#include <string_view>

namespace dts {

// Creates a folder with a new name, mode 0700, below TMPDIR, otherwise /tmp: "/tmp/PREFIX-kX3bQ9".
// The caller removes it.
[[nodiscard]] Result<std::string> make_temporary_folder(std::string_view prefix);

}  // namespace dts
