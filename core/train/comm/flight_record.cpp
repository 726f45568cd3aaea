// SPDX-License-Identifier: Apache-2.0
#include "core/train/comm/flight_record.hpp"

#include "core/base/hash.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace dts::train {
namespace {

std::string words_of(const CallHeader& header) {
  return header.bytes == 0 ? to_string(header.call)
                           : fmt::format("{} of {} B", to_string(header.call), header.bytes);
}

}  // namespace

const char* to_string(Call call) {
  constexpr std::array<const char*, 9> k_names{"nothing",
                                               "barrier",
                                               "gather",
                                               "exchange",
                                               "broadcast",
                                               "scatter of partial sums",
                                               "gather of slices",
                                               "message",
                                               "connection of devices"};
  const auto index = static_cast<std::size_t>(call);
  return index < k_names.size() ? k_names[index] : "unknown call";
}

std::string to_string(const CallHeader& header) {
  return fmt::format("call {}, {}", header.sequence, words_of(header));
}

CallHeader FlightRecord::add(Call call, std::uint64_t bytes) {
  const std::array<std::uint64_t, 3> now{static_cast<std::uint64_t>(call), bytes, group_};
  hash_ = hash64(now.data(), sizeof now, hash_);
  return kept_[++count_ % k_kept] = {++calls_, call, group_, bytes, hash_};
}

CallHeader FlightRecord::add_message(std::uint64_t sequence, std::uint64_t bytes) {
  return kept_[++count_ % k_kept] = {sequence, Call::message, group_, bytes, 0};
}

std::string FlightRecord::newest() const {
  std::string text;
  for (std::uint64_t n = count_ < k_kept ? 1 : count_ - k_kept + 1; n <= count_; ++n) {
    const CallHeader& one = kept_[n % k_kept];
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", one.sequence, words_of(one));
  }
  return text;
}

}  // namespace dts::train
