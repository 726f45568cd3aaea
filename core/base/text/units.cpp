// SPDX-License-Identifier: Apache-2.0
#include "core/base/text/units.hpp"

#include "core/base/text/duration.hpp"
#include "core/base/text/text.hpp"

#include <fmt/format.h>

#include <ctime>
#include <optional>
#include <vector>

namespace dts {
namespace {

constexpr std::uint64_t k_largest =
    1'000'000'000;  // 31 years of seconds; keeps sums far from overflow

tl::unexpected<Error> bad_time(std::string_view text) {
  return fail(
      Errc::invalid,
      fmt::format("`{}` is not a time", text),
      "write minutes, M:S, H:M:S, D-H, D-H:M, D-H:M:S or a number with s, m, h or d, e.g. 90, "
      "1:30:00 or 1.5h");
}

// The fields of "a:b:c"; nullopt if one is not a number or is too large.
std::optional<std::vector<std::uint64_t>> fields(std::string_view text) {
  std::vector<std::uint64_t> values;
  for (const std::string& part : split(text, ':')) {
    const auto number = parse_number(part);
    if (!number || *number > k_largest) return std::nullopt;
    values.push_back(*number);
  }
  return values;
}

}  // namespace

Result<std::chrono::seconds> parse_time_limit(std::string_view text) {
  if (text == "UNLIMITED" || text == "INFINITE" || text == "unlimited" || text == "infinite")
    return std::chrono::seconds::max();
  if (!text.empty() && std::string_view("smhd").find(text.back()) != std::string_view::npos) {
    const auto length = parse_duration(text);
    if (!length || length->count() > static_cast<double>(k_largest)) return bad_time(text);
    if (length->count() > 0) return std::chrono::ceil<std::chrono::seconds>(*length);
  }
  std::uint64_t days = 0;
  std::string_view rest = text;
  const std::size_t dash = text.find('-');
  if (dash != std::string_view::npos) {
    const auto number = parse_number(text.substr(0, dash));
    if (!number || *number > k_largest / 86400) return bad_time(text);
    days = *number;
    rest = text.substr(dash + 1);
  }
  const auto f = fields(rest);
  if (!f || f->size() > 3) return bad_time(text);
  std::uint64_t total = days * 86400;
  if (dash != std::string_view::npos) {
    constexpr std::uint64_t k_weight[] = {3600, 60, 1};
    for (std::size_t i = 0; i < f->size(); ++i) total += (*f)[i] * k_weight[i];
  } else if (f->size() == 3) {
    total += (*f)[0] * 3600 + (*f)[1] * 60 + (*f)[2];
  } else {
    total += (*f)[0] * 60 + (f->size() == 2 ? (*f)[1] : 0);
  }
  if (total == 0) return fail(Errc::invalid, "a time limit of zero", "ask for at least one minute");
  if (total > k_largest) return bad_time(text);
  return std::chrono::seconds(total);
}

Result<std::chrono::seconds> parse_length(const std::string& text) {
  constexpr std::uint64_t k_longest = 1'000'000'000;  // 31 years in seconds
  const auto number = parse_number(text);
  if (number && *number <= k_longest) return std::chrono::seconds(*number);
  auto length = parse_time_limit(text);
  if (!length)
    length.error().hint = "write seconds, M:S, H:M:S, or a number with s, m, h or d, e.g. 20 or 5m";
  return length;
}

std::string format_time_limit(std::chrono::seconds limit) {
  if (limit == std::chrono::seconds::max()) return "UNLIMITED";
  const auto total = limit.count();
  const std::string clock =
      fmt::format("{:02}:{:02}:{:02}", total % 86400 / 3600, total % 3600 / 60, total % 60);
  return total >= 86400 ? fmt::format("{}-{}", total / 86400, clock) : clock;
}

Result<std::uint64_t> parse_memory_mib(std::string_view text) {
  const auto bad = [&] {
    return fail(Errc::invalid,
                fmt::format("`{}` is not an amount of memory", text),
                "write e.g. 4000M or 16G");
  };
  std::string_view digits = text;
  // "32gb", "32GiB": Slurm only looks at the first letter.
  for (const std::string_view rest : {"ib", "iB", "IB", "b", "B"})
    if (digits.size() > rest.size() + 1 && digits.substr(digits.size() - rest.size()) == rest) {
      digits.remove_suffix(rest.size());
      break;
    }
  char unit = 'M';
  if (!digits.empty() && (digits.back() < '0' || digits.back() > '9')) {
    unit = static_cast<char>(digits.back() & ~0x20);
    digits.remove_suffix(1);
  }
  const auto number = parse_number(digits);
  constexpr std::uint64_t k_most = std::uint64_t{1}
                                   << 40;  // an exbibyte; keeps shifts from overflowing
  if (!number || *number > k_most) return bad();
  std::uint64_t mib = 0;
  switch (unit) {
    case 'K':
      mib = (*number + 1023) / 1024;
      break;
    case 'M':
      mib = *number;
      break;
    case 'G':
      mib = *number << 10;
      break;
    case 'T':
      mib = *number << 20;
      break;
    default:
      return bad();
  }
  if (mib > k_most) return bad();
  return mib;
}

std::string format_utc(std::chrono::system_clock::time_point time) {
  const std::time_t seconds = std::chrono::system_clock::to_time_t(time);
  std::tm parts{};
  gmtime_r(&seconds, &parts);
  char text[32];
  const std::size_t length = std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &parts);
  return {text, length};
}

// The end of the year 2199: a time_point counts nanoseconds and ends in 2262.
constexpr std::time_t k_latest = 7'258'118'399;

std::optional<std::chrono::system_clock::time_point> parse_utc(const std::string& text) {
  std::tm parts{};
  const char* end = ::strptime(text.c_str(), "%Y-%m-%dT%H:%M:%SZ", &parts);
  if (end == nullptr || *end != '\0') return std::nullopt;
  const std::time_t seconds = ::timegm(&parts);
  if (seconds < 0 || seconds > k_latest) return std::nullopt;
  return std::chrono::system_clock::from_time_t(seconds);
}

}  // namespace dts
