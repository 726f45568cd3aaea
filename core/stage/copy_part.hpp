// SPDX-License-Identifier: Apache-2.0
// Copies a part of a file, writes it to the disk, reads it back and compares. Thread-safe; several
// threads may copy parts of one file.
#pragma once

#include "core/base/result.hpp"

#include <cstdint>
#include <functional>
#include <string>

namespace dts::stage {

inline constexpr std::uint64_t k_block = std::uint64_t{4} << 20;  // unit of reading and hashing
inline constexpr std::uint64_t k_part = 16 * k_block;

struct Range {
  std::uint64_t begin = 0;  // a multiple of k_block
  std::uint64_t end = 0;
};

// Receives the number of bytes copied since the last call.
using OnBytes = std::function<void(std::uint64_t bytes)>;

// Copies the range into `target`, which is created if absent, and must only contain zeros in the
// range. Blocks of zeros are not written. Returns the range's hash. Errc::io if the data that is
// read back from the disk has a different hash.
[[nodiscard]] Result<std::uint64_t> copy_part(const std::string& source,
                                              const std::string& target,
                                              Range range,
                                              const OnBytes& on_bytes);

// The same hash, of existing data: the sum of its blocks' XXH3 hashes, each seeded by its offset.
// Holes, blocks of zeros and data missing at the end add nothing.
[[nodiscard]] Result<std::uint64_t> hash_part(const std::string& path, Range range);

}  // namespace dts::stage
