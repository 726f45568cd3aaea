// SPDX-License-Identifier: Apache-2.0
// Files and folders that only we can have written. We act upon their contents, so a file that
// others planted or may change is refused, with a message that names it. The open descriptor is
// checked (fstat), so the file cannot be exchanged in between. Thread-safe.
#pragma once

#include "core/base/files/unique_fd.hpp"
#include "core/base/result.hpp"

#include <sys/types.h>

#include <cstdint>
#include <string>

namespace dts {

// Opens the folder `path`. Errc::invalid if it is not ours, if others may write to it (a sticky one
// is allowed: they cannot replace our files there), or if `path` is a symbolic link that neither we
// nor root made; not_found or io if it cannot be opened.
[[nodiscard]] Result<UniqueFd> open_own_folder(const std::string& path);

// Errc::invalid if `path` is a symbolic link that neither we nor root made: its target cannot be
// trusted. Anything else passes here, including an absent path.
[[nodiscard]] Result<void> check_own_link(const std::string& path);

enum class Others {
  may_not_write,  // refused if group or others may write to it
  may_write,      // a program made it under its own umask: only its owner counts
};

// Opens a regular file for reading. Errc::invalid if it is not ours, if others may write to it, or
// if it is a symbolic link; not_found or io if it cannot be opened.
[[nodiscard]] Result<UniqueFd> open_own_file(const std::string& path,
                                             Others others = Others::may_not_write);

// Reads a whole file. Errors as for open_own_file() and read_file().
[[nodiscard]] Result<std::string> read_own_file(const std::string& path,
                                                std::uint64_t limit = std::uint64_t{1} << 30,
                                                Others others = Others::may_not_write);

// Reads the rest of an open file from its current offset. `path` is used in error messages.
[[nodiscard]] Result<std::string> read_open_file(int fd,
                                                 const std::string& path,
                                                 std::uint64_t limit);

// Errc::invalid unless the open file `fd` is ours. `path` is used in the error message.
[[nodiscard]] Result<void> check_file_is_ours(int fd, const std::string& path);

}  // namespace dts
