// SPDX-License-Identifier: Apache-2.0
// Files and folders that only we can have written: what they say is acted upon, so a file that
// somebody else planted or may change is refused by its name. What is checked is what was opened
// (fstat on the descriptor), so nothing can be exchanged in between. Thread-safe.
#pragma once

#include "core/base/files/unique_fd.hpp"
#include "core/base/result.hpp"

#include <sys/types.h>

#include <cstdint>
#include <string>

namespace dts {

// Opens the folder `path`. Errc::invalid where it is not ours, where others may write to it (a
// sticky one is allowed: they cannot replace our files there), or where `path` is a symbolic link
// that neither we nor root made; not_found or io where it cannot be opened.
[[nodiscard]] Result<UniqueFd> open_own_folder(const std::string& path);

// Errc::invalid where `path` is a symbolic link that neither we nor root made: where it leads is
// nobody's wish. Anything else is fine here, also what is absent.
[[nodiscard]] Result<void> check_own_link(const std::string& path);

enum class Others {
  may_not_write,  // refused where group or others may write to it
  may_write,      // a program made it under a umask of its own: only its owner counts
};

// Opens a regular file for reading. Errc::invalid where it is not ours, where others may write to
// it, and for a symbolic link; not_found or io where it cannot be opened.
[[nodiscard]] Result<UniqueFd> open_own_file(const std::string& path,
                                             Others others = Others::may_not_write);

// The whole file. The errors of open_own_file() and read_file().
[[nodiscard]] Result<std::string> read_own_file(const std::string& path,
                                                std::uint64_t limit = std::uint64_t{1} << 30,
                                                Others others = Others::may_not_write);

// What is left of an open file, from where it stands; `path` is for the error's words.
[[nodiscard]] Result<std::string> read_open_file(int fd,
                                                 const std::string& path,
                                                 std::uint64_t limit);

// Errc::invalid unless the open file `fd`, called `path`, is ours.
[[nodiscard]] Result<void> check_own(int fd, const std::string& path);

}  // namespace dts
