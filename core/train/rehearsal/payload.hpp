// SPDX-License-Identifier: Apache-2.0
// The data that a rehearsal writes into the folder of a checkpoint and reads back: as many bytes as
// the rehearsed training would write, which no file system can compress or deduplicate, and which
// need not be kept in memory.
#pragma once

#include "core/base/result.hpp"

#include <cstdint>
#include <string>

namespace dts::train {

// One rank's file, among those of all ranks.
struct PayloadPart {
  int parts = 1;
  int part = 0;  // from 0
  std::uint64_t step = 0;
};

// Writes a new file of `bytes` bytes, at least 32, and syncs it to the disk; no file for 0 bytes.
// Errc::io; Errc::not_found if the folder does not exist.
[[nodiscard]] Result<void> write_payload(const std::string& folder,
                                         const PayloadPart& part,
                                         std::uint64_t bytes);

// Reads every `readers`-th file of a folder, beginning with number `reader`, and returns the number
// of bytes. Errc::invalid, with file and offset, if data differ from what was written at `step`, or
// if a file is missing; Errc::io.
[[nodiscard]] Result<std::uint64_t> read_payload(const std::string& folder,
                                                 std::uint64_t step,
                                                 int readers,
                                                 int reader);

}  // namespace dts::train
