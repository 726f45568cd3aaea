// SPDX-License-Identifier: Apache-2.0
// A part of a file: copied, written to the disk, read back and compared. Thread-safe; several
// threads may copy parts of one file.
#pragma once

#include "core/base/result.hpp"

#include <cstdint>
#include <functional>
#include <string>

namespace dts::stage {

inline constexpr std::uint64_t k_block = std::uint64_t{4} << 20;  // read and hashed at once
inline constexpr std::uint64_t k_part = 16 * k_block;

struct Range {
  std::uint64_t begin = 0;  // a multiple of k_block
  std::uint64_t end = 0;
};

// Told how many bytes more were copied.
using OnBytes = std::function<void(std::uint64_t bytes)>;

// Copies the range into `target`, which is made if it is absent and holds nothing else in the range
// but zeros. Blocks of zeros are not written. Returns the range's hash, which the bytes that are
// read back from the disk must have, too: Errc::io where they have not.
[[nodiscard]] Result<std::uint64_t> copy_part(const std::string& source,
                                              const std::string& target,
                                              Range range,
                                              const OnBytes& on_bytes);

// The same hash of what is there: the sum of its blocks' XXH3 hashes, each seeded by its offset;
// holes, blocks of zeros and what is missing at the end count nothing.
[[nodiscard]] Result<std::uint64_t> hash_part(const std::string& path, Range range);

}  // namespace dts::stage
