// SPDX-License-Identifier: Apache-2.0
// Checksums of the messages that each rank of a group sends to each other one. They are sent after
// the messages, with some more bytes for every rank. Not thread-safe.
#pragma once

#include "core/base/hash.hpp"
#include "core/train/comm/group.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace dts::train {

// The checksum of a message that consists of these chunks, computed from theirs.
[[nodiscard]] inline std::uint64_t seal_of(const std::uint64_t* checksums, Span chunks) {
  return hash64(checksums, static_cast<std::size_t>(chunks.size()) * sizeof *checksums);
}

class Seals {
 public:
  // `count` messages from each rank to each other one, and `more` bytes; equal on all ranks.
  Seals(int ranks, std::size_t count, std::size_t more)
      : count_(count),
        words_(count + (more + sizeof(std::uint64_t) - 1) / sizeof(std::uint64_t)),
        out_(words_ * static_cast<std::size_t>(ranks)),
        in_(out_.size()),
        found_(out_.size()) {}

  // The checksum of a message as computed before sending, and as it arrived. 0 until set.
  [[nodiscard]] std::uint64_t& sent(int to, std::size_t which) { return out_[first(to) + which]; }

  [[nodiscard]] std::uint64_t& found(int from, std::size_t which) {
    return found_[first(from) + which];
  }

  [[nodiscard]] void* more_to(int rank) { return out_.data() + first(rank) + count_; }

  [[nodiscard]] void* more_from(int rank) { return in_.data() + first(rank) + count_; }

  // Collective: exchanges the checksums.
  [[nodiscard]] Group::Ticket post(Group& group) {
    return group.post_exchange(out_.data(), in_.data(), words_ * sizeof(std::uint64_t));
  }

  // After that: the first message of a rank that arrived differing from what it computed.
  [[nodiscard]] std::optional<std::size_t> changed(int from) const {
    const auto begin = static_cast<std::ptrdiff_t>(first(from));
    const auto end = begin + static_cast<std::ptrdiff_t>(count_);
    const auto [at, sent] =
        std::mismatch(found_.begin() + begin, found_.begin() + end, in_.begin() + begin);
    if (at == found_.begin() + end) return std::nullopt;
    return static_cast<std::size_t>(at - found_.begin() - begin);
  }

 private:
  [[nodiscard]] std::size_t first(int rank) const {
    return words_ * static_cast<std::size_t>(rank);
  }

  std::size_t count_;
  std::size_t words_;  // per rank
  std::vector<std::uint64_t> out_, in_, found_;
};

}  // namespace dts::train
