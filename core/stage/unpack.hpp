// SPDX-License-Identifier: Apache-2.0
// Unpacks an archive with tar(1) on this node. Thread-safe for different targets.
#pragma once

#include "core/base/result.hpp"
#include "core/stage/meter.hpp"
#include "core/stage/scan.hpp"

#include <string>

namespace dts::stage {

struct ArchiveToUnpack {
  std::string source;
  std::string target;  // a folder
  Entry entry;         // the archive
  std::string mark;    // written last; says which archive has been unpacked in `target`
  std::string option;  // the option that requested it, for messages
};

// True if the mark says that exactly this archive has been unpacked completely.
[[nodiscard]] bool is_unpacked(const ArchiveToUnpack& archive);

// Removes and recreates the target. Only tar(1) and the checksums of the compression verify the
// contents.
[[nodiscard]] Result<void> unpack(const ArchiveToUnpack& archive, Meter& meter);

}  // namespace dts::stage
