// SPDX-License-Identifier: Apache-2.0
// Records the latest calls of a rank. Every rank of a group must make the same calls in the same
// order; if one does not, the record shows which call differs. Pure.
#pragma once

#include <array>
#include <cstdint>
#include <string>

namespace dts::train {

enum class Call : std::uint32_t {
  none,
  barrier,
  gather,
  exchange,
  broadcast,
  scatter_partials,
  gather_slices,
  message,
  connect,  // of devices
};

// The header that a rank sends, before anything else, to each rank it meets in a call. Plain data.
struct CallHeader {
  std::uint64_t sequence =
      0;  // counts the group's calls, or messages between these two ranks, from 1
  Call call = Call::none;
  std::uint32_t group = 0;
  std::uint64_t bytes = 0;  // the same on all ranks
  std::uint64_t hash = 0;   // of this and all earlier calls of the group; 0 for a message

  bool operator==(const CallHeader&) const = default;
};

// "gather"
[[nodiscard]] const char* to_string(Call call);

// "call 12, gather of 8 B"
[[nodiscard]] std::string to_string(const CallHeader& header);

class FlightRecord {
 public:
  explicit FlightRecord(std::uint32_t group) : group_(group) {}

  // Adds a call that all ranks of the group make.
  CallHeader add(Call call, std::uint64_t bytes);

  // Adds the `sequence`-th message from one rank to another.
  CallHeader add_message(std::uint64_t sequence, std::uint64_t bytes);

  // The newest calls, oldest first: "9 gather of 8 B, 10 barrier, 11 exchange of 1024 B".
  [[nodiscard]] std::string newest() const;

 private:
  static constexpr std::size_t k_kept = 16;

  std::uint32_t group_;
  std::uint64_t calls_ = 0;
  std::uint64_t count_ = 0;  // including messages
  std::uint64_t hash_ = 0;
  std::array<CallHeader, k_kept> kept_{};  // the n-th call is at n % k_kept
};

}  // namespace dts::train
