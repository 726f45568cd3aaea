// SPDX-License-Identifier: Apache-2.0
// What a rank has called lately. Every rank of a group makes the same calls in the same order; the
// record tells which call it was where they do not. Pure.
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
  connect,  // devices
};

// Goes from each rank to each other one it meets in a call, before anything else. Plain data.
struct CallHeader {
  std::uint64_t sequence =
      0;  // of the group's calls, or of the messages from one to another; from 1
  Call call = Call::none;
  std::uint32_t group = 0;
  std::uint64_t bytes = 0;  // the same on all ranks
  std::uint64_t hash = 0;   // of this and all earlier calls of the group; none for a message

  bool operator==(const CallHeader&) const = default;
};

// "gather"
[[nodiscard]] const char* to_string(Call call);

// "call 12, gather of 8 B"
[[nodiscard]] std::string to_string(const CallHeader& header);

class FlightRecord {
 public:
  explicit FlightRecord(std::uint32_t group) : group_(group) {}

  // Of all ranks of the group.
  CallHeader add(Call call, std::uint64_t bytes);

  // Between two ranks, the `sequence`-th from the one to the other.
  CallHeader add_message(std::uint64_t sequence, std::uint64_t bytes);

  // The newest, oldest first: "9 gather of 8 B, 10 barrier, 11 exchange of 1024 B".
  [[nodiscard]] std::string newest() const;

 private:
  static constexpr std::size_t k_kept = 16;

  std::uint32_t group_;
  std::uint64_t calls_ = 0;
  std::uint64_t count_ = 0;  // with messages
  std::uint64_t hash_ = 0;
  std::array<CallHeader, k_kept> kept_{};  // the n-th at n % k_kept
};

}  // namespace dts::train
