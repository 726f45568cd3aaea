// SPDX-License-Identifier: Apache-2.0
#include "core/base/job_id.hpp"

#include <algorithm>
#include <charconv>
#include <system_error>

namespace dts {
namespace {

bool is_plain(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

bool may_be_in_id(char c) {
  return is_plain(c) || std::string_view("._+-@:[]").find(c) != std::string_view::npos;
}

// nullopt unless `text` is a decimal number of at most 32 bits.
std::optional<std::uint32_t> plain_number(std::string_view text) {
  std::uint32_t number = 0;
  const char* const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, number);
  return rest == end && error == std::errc{} ? std::optional(number) : std::nullopt;
}

}  // namespace

std::optional<JobId> JobId::parse(std::string_view text) {
  if (text.empty() || text.size() > k_longest || !is_plain(text.front()) ||
      !std::all_of(text.begin(), text.end(), may_be_in_id))
    return std::nullopt;
  JobId id;
  if (const auto number = plain_number(text))
    id = JobId(*number);
  else
    id.text_ = text;
  return id.empty() ? std::nullopt : std::optional(std::move(id));
}

std::optional<std::uint32_t> JobId::number() const {
  if (text_.empty()) return 0;
  return plain_number(text_);
}

}  // namespace dts
