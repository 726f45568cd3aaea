// SPDX-License-Identifier: Apache-2.0
// What a rehearsal writes into the folder of a checkpoint, and reads back: as many bytes as the
// training it stands for would, which no file system can make fewer of and nobody needs to keep in
// memory.
#pragma once

#include "core/base/result.hpp"

#include <cstdint>
#include <string>

namespace dts::train {

// One rank's file among those of all ranks.
struct PayloadPart {
  int parts = 1;
  int part = 0;  // from 0
  std::uint64_t step = 0;
};

// A new file of `bytes` bytes, at least 32, synced to the disk; none of 0 bytes. Errc::io,
// Errc::not_found without the folder.
[[nodiscard]] Result<void> write_payload(const std::string& folder,
                                         const PayloadPart& part,
                                         std::uint64_t bytes);

// Reads every `readers`-th file of a folder, beginning with the `reader`-th, and returns its bytes.
// Errc::invalid, with the file and the place, for what is not as it was written at `step`, and if a
// file is missing; Errc::io.
[[nodiscard]] Result<std::uint64_t> read_payload(const std::string& folder,
                                                 std::uint64_t step,
                                                 int readers,
                                                 int reader);

}  // namespace dts::train
