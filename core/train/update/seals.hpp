// SPDX-License-Identifier: Apache-2.0
// Checksums of what each rank of a group sends to each other one, which follow it, and a few bytes
// more for every rank. Not thread-safe.
#pragma once

#include "core/base/hash.hpp"
#include "core/train/comm/group.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace dts::train {

// Of a message of these chunks, whose checksums are given.
[[nodiscard]] inline std::uint64_t seal_of(const std::uint64_t* checksums, Span chunks) {
  return hash64(checksums, static_cast<std::size_t>(chunks.size()) * sizeof *checksums);
}

class Seals {
 public:
  // Of `count` messages from one rank to another, and `more` bytes; the same on all ranks.
  Seals(int ranks, std::size_t count, std::size_t more)
      : count_(count),
        words_(count + (more + sizeof(std::uint64_t) - 1) / sizeof(std::uint64_t)),
        out_(words_ * static_cast<std::size_t>(ranks)),
        in_(out_.size()),
        found_(out_.size()) {}

  // As it was computed before it was sent, and as it has arrived. What is not set is 0.
  [[nodiscard]] std::uint64_t& sent(int to, std::size_t which) { return out_[first(to) + which]; }

  [[nodiscard]] std::uint64_t& found(int from, std::size_t which) {
    return found_[first(from) + which];
  }

  [[nodiscard]] void* more_to(int rank) { return out_.data() + first(rank) + count_; }

  [[nodiscard]] void* more_from(int rank) { return in_.data() + first(rank) + count_; }

  // Collective.
  [[nodiscard]] Group::Ticket post(Group& group) {
    return group.post_exchange(out_.data(), in_.data(), words_ * sizeof(std::uint64_t));
  }

  // Once that is done: the first message of a rank that arrived other than it had been computed.
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
  std::size_t words_;  // of a rank
  std::vector<std::uint64_t> out_, in_, found_;
};

}  // namespace dts::train
