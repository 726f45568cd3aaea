// SPDX-License-Identifier: Apache-2.0
// Lists what to copy: a file, or a folder with all its contents. Thread-safe.
#pragma once

#include "core/base/diagnostics.hpp"
#include "core/base/result.hpp"

#include <sys/stat.h>

#include <cstdint>
#include <ctime>
#include <string>
#include <vector>

namespace dts::stage {

enum class EntryKind { folder, file, link };

struct Entry {
  EntryKind kind = EntryKind::file;
  std::string name;           // relative to the source; empty: the source itself
  std::uint64_t size = 0;     // of a file, in bytes
  std::uint64_t on_disk = 0;  // allocated bytes, fewer in a sparse file
  timespec changed{};         // mtime
  mode_t mode = 0;            // permissions
  std::string link_target{};
};

struct Tree {
  std::string root;            // with symbolic links resolved
  std::vector<Entry> entries;  // folders before their contents

  [[nodiscard]] std::string path_of(const Entry& entry) const {
    return entry.name.empty() ? root : root + "/" + entry.name;
  }
};

// `source` itself may be a symbolic link; links below it stay links. Anything that cannot be copied
// (sockets, devices, unreadable folders) is added to `problems`, attributed to `option`.
[[nodiscard]] Tree scan(const std::string& source,
                        const std::string& option,
                        Diagnostics& problems);

[[nodiscard]] bool is_same_time(const timespec& a, const timespec& b);

}  // namespace dts::stage
