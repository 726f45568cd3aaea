// SPDX-License-Identifier: Apache-2.0
// Files that users write and we read: job files and settings. Links are followed, as users may keep
// such files elsewhere. Anything but a regular file is refused, so that a FIFO cannot block us.
// Thread-safe.
#pragma once

#include "core/base/result.hpp"

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>

namespace dts {

// Reads a file that was named explicitly, whoever wrote it. Errc::not_found if absent,
// Errc::invalid if it is not a regular file or is larger than `limit` bytes.
[[nodiscard]] Result<std::string> read_regular_file(const std::string& path, std::uint64_t limit);

// Reads a file that is used because of its location: also Errc::invalid if it belongs neither to us
// nor to root, or if others may write to it. Checks the open file.
[[nodiscard]] Result<std::string> read_trusted_file(const std::string& path, std::uint64_t limit);

// The owner of the file if this is neither we nor root; nullopt also if there is no file.
[[nodiscard]] std::optional<uid_t> foreign_owner(const std::string& path);

}  // namespace dts
