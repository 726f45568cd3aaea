// SPDX-License-Identifier: Apache-2.0
// Copies trees with several threads. Keeps what an earlier copy has finished: a file gets its
// modification time last, so a file with the right size and time is complete.
#pragma once

#include "core/base/result.hpp"
#include "core/stage/meter.hpp"
#include "core/stage/scan.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace dts::stage {

struct FileToCopy {
  std::string source;
  std::string target;
  Entry entry;
  std::string option;  // the option that requested it, for messages
};

struct Need {
  std::uint64_t bytes = 0;  // in files
  std::uint64_t disk = 0;   // space that these take on disk
  std::uint64_t files = 0;  // files, folders and links
};

struct CopyPlan {
  std::vector<FileToCopy> files;
  Need need;
  std::uint64_t kept = 0;  // size of files that are already there
};

// Creates the folders and links of `tree` at `target`, removes what is in the way of a file or
// differs from the source, and adds the files to copy to `plan`.
[[nodiscard]] Result<void> prepare_tree(const Tree& tree,
                                        const std::string& target,
                                        const std::string& option,
                                        CopyPlan& plan);

// Copies the files. Errc::io with the first error: a source that changed meanwhile, a full disk, or
// data that differs when it is read back.
[[nodiscard]] Result<void> copy_files(const CopyPlan& plan, unsigned threads, Meter& meter);

}  // namespace dts::stage
