// SPDX-License-Identifier: Apache-2.0
// Copies trees with several threads. Keeps what an earlier copy has finished: a file gets its
// modification time last, so one of the same size and time is complete.
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
  std::uint64_t bytes = 0;  // of files
  std::uint64_t disk = 0;   // bytes on disk that these take
  std::uint64_t files = 0;  // names of any kind
};

struct CopyPlan {
  std::vector<FileToCopy> files;
  Need need;
  std::uint64_t kept = 0;  // bytes of files already there
};

// Creates the folders and links of `tree` at `target`, removes whatever blocks a file or differs
// from the source, and adds the files to copy to `plan`.
[[nodiscard]] Result<void> prepare_tree(const Tree& tree,
                                        const std::string& target,
                                        const std::string& option,
                                        CopyPlan& plan);

// Errc::io with the first error: a source that changed meanwhile, a full disk, data that reads back
// differently.
[[nodiscard]] Result<void> copy_files(const CopyPlan& plan, unsigned threads, Meter& meter);

}  // namespace dts::stage
