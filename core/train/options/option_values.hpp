// SPDX-License-Identifier: Apache-2.0
// Setters for the values of options. They return false for invalid text, and may have changed their
// target then. Pure, thread-safe.
#pragma once

#include "core/base/text/names.hpp"
#include "core/base/text/text.hpp"
#include "core/train/comm/comm.hpp"
#include "core/train/rehearsal/rehearsal_plan.hpp"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>

namespace dts::train {

inline constexpr std::uint64_t k_largest_count =
    1000000000;  // of any count, so that products of two are far from overflow

inline constexpr double k_below_one = 0.999999999;

inline bool set_number(std::uint64_t& to, const std::string& text, std::uint64_t least) {
  const auto number = parse_number(text);
  if (!number || *number < least || *number > k_largest_count) return false;
  to = *number;
  return true;
}

inline bool set_text(std::string& to, const std::string& text) {
  to = text;
  return !text.empty();
}

inline bool set_real(double& to, const std::string& text, double most) {
  const auto number = parse_real(text);
  if (!number || *number < 0 || *number > most) return false;
  to = *number;
  return true;
}

inline bool set_optional(std::optional<double>& to, const std::string& text, double most) {
  double value = 0;
  if (!set_real(value, text, most)) return false;
  to = value;
  return true;
}

inline bool set_optional(std::optional<std::uint64_t>& to,
                         const std::string& text,
                         std::uint64_t least) {
  std::uint64_t value = 0;
  if (!set_number(value, text, least)) return false;
  to = value;
  return true;
}

// Parses "RANK:NUMBER".
inline bool set_of_rank(std::optional<std::uint64_t>& rank,
                        std::uint64_t& number,
                        const std::string& text) {
  const auto colon = text.find(':');
  return colon != std::string::npos && set_optional(rank, text.substr(0, colon), 0) &&
         set_number(number, text.substr(colon + 1), 0);
}

// Parses "4M", or "whole", which means 0.
inline bool set_bucket(std::optional<std::uint64_t>& to, const std::string& text) {
  constexpr double k_largest = 1e15;
  const auto bytes = text == "whole" ? std::optional(0.0) : parse_bytes(text);
  to = static_cast<std::uint64_t>(std::min(bytes.value_or(0), k_largest));
  return bytes && *bytes <= k_largest;
}

inline bool set_choice(bool& to,
                       const std::string& text,
                       const std::string& yes,
                       const std::string& no) {
  to = text == yes;
  return text == yes || text == no;
}

inline bool set_switch(std::optional<bool>& to,
                       const std::string& text,
                       const std::string& on = "on",
                       const std::string& off = "off") {
  to.reset();
  if (text != "auto") to = text == on;
  return text == on || text == off || text == "auto";
}

inline std::optional<TransportKind> transport_of(const std::string& text) {
  constexpr Names<TransportKind, 4> k_kinds{{{TransportKind::automatic, "auto"},
                                             {TransportKind::mpi, "mpi"},
                                             {TransportKind::shm, "shm"},
                                             {TransportKind::hier, "hier"}}};
  return value_of(k_kinds, text);
}

template <class Row>
bool set_row(const Row*& to, const Row* found) {
  to = found;
  return found != nullptr;
}

template <class Value>
bool set_value(Value& to, const std::optional<Value>& found) {
  to = found.value_or(to);
  return found.has_value();
}

}  // namespace dts::train
