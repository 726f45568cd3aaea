// SPDX-License-Identifier: Apache-2.0
// Who has accessed which memory, to find data races: two accesses to the same bytes, at least one
// of which writes, by threads that no barrier between them orders.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

namespace ptx {

// An access: by whom, and after how many barriers of the block and of the warp. -1: by several.
struct Access {
  int block = 0;
  int warp = 0;
  int thread = 0;  // of the block
  int phase = -1;  // -1: none yet
  int warp_phase = 0;

  // Whether a barrier, or the order within one thread, puts this access before that one.
  [[nodiscard]] bool is_before(const Access& other) const {
    if (phase == -1) return true;
    return block == other.block && (phase < other.phase || thread == other.thread ||
                                    (warp == other.warp && warp_phase < other.warp_phase));
  }
};

// The last accesses to each two bytes, which no instruction divides. Not thread-safe.
class Accesses {
 public:
  // Records accesses to `bytes` bytes at `at`. Returns one that races with them; nullptr: none.
  const Access* read(std::uint64_t at, std::size_t bytes, const Access& now);
  const Access* write(std::uint64_t at, std::size_t bytes, const Access& now);

 private:
  static constexpr std::size_t k_page = 4096;

  struct Cell {
    Access written;
    Access read;
  };

  Cell& cell(std::uint64_t at);

  std::unordered_map<std::uint64_t, std::vector<Cell>> pages_;
  std::uint64_t last_number_ = ~std::uint64_t{0};
  std::vector<Cell>* last_ = nullptr;
};

}  // namespace ptx
