// SPDX-License-Identifier: Apache-2.0
// An archive that tar(1) unpacks on this node. Thread-safe for different targets.
#pragma once

#include "core/base/result.hpp"
#include "core/stage/meter.hpp"
#include "core/stage/scan.hpp"

#include <string>

namespace dts::stage {

struct ArchiveToUnpack {
  std::string source;
  std::string target;  // a folder
  Entry entry;         // of the archive
  std::string mark;    // file that says which archive has been unpacked there, written last
  std::string option;  // that asked for it, for messages
};

// The mark says that this very archive is there, whole.
[[nodiscard]] bool is_unpacked(const ArchiveToUnpack& archive);

// Removes the target and makes it anew. Whether the contents are right is for tar(1) and the sums
// of the compression to say.
[[nodiscard]] Result<void> unpack(const ArchiveToUnpack& archive, Meter& meter);

}  // namespace dts::stage
