// SPDX-License-Identifier: Apache-2.0
#include "core/base/text/hostlist.hpp"

#include "core/base/text/text.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace dts {
namespace {

constexpr std::size_t k_most_hosts = 100'000;

tl::unexpected<Error> bad_list(std::string_view list, std::size_t column, std::string_view why) {
  return fail(Errc::invalid, fmt::format("host list `{}`, column {}: {}", list, column + 1, why));
}

bool is_host_name(std::string_view name) {
  const auto plain = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0; };
  if (name.empty() || !plain(name.front()) || !plain(name.back())) return false;
  return std::all_of(name.begin(), name.end(), [&](char c) {
    return plain(c) || c == '.' || c == '_' || c == '-';
  });
}

// "0-3,07" -> the numbers as text, zero-padded like the first of their range; false if malformed.
bool expand_ranges(std::string_view inside, std::vector<std::string>& numbers) {
  for (const std::string& range : split(inside, ',')) {
    const std::size_t dash = range.find('-');
    const std::string low = range.substr(0, dash);
    const std::string high = dash == std::string::npos ? low : range.substr(dash + 1);
    const auto first = parse_number(low), last = parse_number(high);
    if (!first || !last || *first > *last || *last - *first >= k_most_hosts) return false;
    for (std::uint64_t n = *first; n <= *last; ++n) {
      if (numbers.size() >= k_most_hosts) return false;
      numbers.push_back(fmt::format("{:0{}}", n, low.size()));
    }
  }
  return true;
}

// The end of the item that starts at `start`: the next comma outside brackets.
std::size_t item_end(std::string_view list, std::size_t start) {
  bool inside = false;
  for (std::size_t i = start; i < list.size(); ++i) {
    if (list[i] == '[') inside = true;
    if (list[i] == ']') inside = false;
    if (list[i] == ',' && !inside) return i;
  }
  return list.size();
}

// Appends the hosts of list[start, end).
Result<void> expand_item(std::string_view list,
                         std::size_t start,
                         std::size_t end,
                         std::vector<std::string>& hosts) {
  std::vector<std::string> names{""};
  for (std::size_t i = start; i < end;) {
    if (list[i] != '[') {
      for (std::string& name : names) name += list[i];
      ++i;
      continue;
    }
    const std::size_t close = list.find(']', i);
    if (close == std::string_view::npos || close > end) return bad_list(list, i, "`[` without `]`");
    std::vector<std::string> numbers, product;
    if (!expand_ranges(list.substr(i + 1, close - i - 1), numbers))
      return bad_list(list, i + 1, "not a range of numbers");
    if (names.size() * numbers.size() + hosts.size() > k_most_hosts)
      return bad_list(list, i, "too many hosts");
    for (const std::string& name : names)
      for (const std::string& number : numbers) product.push_back(name + number);
    names = std::move(product);
    i = close + 1;
  }
  for (std::string& name : names) {
    if (!is_host_name(name))
      return bad_list(list, start, fmt::format("`{}` is not a host name", name));
    hosts.push_back(std::move(name));
  }
  return {};
}

}  // namespace

Result<std::vector<std::string>> expand_hostlist(std::string_view list) {
  std::vector<std::string> hosts;
  for (std::size_t start = 0; start <= list.size();) {
    const std::size_t end = item_end(list, start);
    DTS_TRY(expand_item(list, start, end, hosts));
    if (hosts.size() > k_most_hosts) return bad_list(list, start, "too many hosts");
    start = end + 1;
  }
  return hosts;
}

Result<std::vector<HostSlots>> expand_host_slots(std::string_view list) {
  constexpr std::uint64_t k_most_slots = 65'535;
  std::vector<HostSlots> all;
  for (std::size_t start = 0; start <= list.size();) {
    const std::size_t end = item_end(list, start);
    const std::size_t colon = std::min(list.find(':', start), end);
    std::optional<std::uint64_t> slots = 0;
    if (colon < end) {
      slots = parse_number(list.substr(colon + 1, end - colon - 1));
      if (!slots || *slots == 0 || *slots > k_most_slots)
        return bad_list(list, colon + 1, "not a number of slots");
    }
    std::vector<std::string> hosts;
    DTS_TRY(expand_item(list, start, colon, hosts));
    for (std::string& host : hosts) all.push_back({std::move(host), static_cast<unsigned>(*slots)});
    if (all.size() > k_most_hosts) return bad_list(list, start, "too many hosts");
    start = end + 1;
  }
  return all;
}

Result<std::vector<unsigned>> expand_counts(std::string_view text) {
  std::vector<unsigned> counts;
  for (const std::string& item : split(text, ',')) {
    const std::size_t times = item.find("(x");
    const auto value = parse_number(std::string_view(item).substr(0, times));
    auto repeat = std::optional<std::uint64_t>(1);
    if (times != std::string::npos)
      repeat = item.back() == ')'
                   ? parse_number(std::string_view(item).substr(times + 2, item.size() - times - 3))
                   : std::nullopt;
    if (!value || *value > 1'000'000 || !repeat || *repeat == 0 ||
        counts.size() + *repeat > k_most_hosts)
      return fail(Errc::invalid, fmt::format("`{}` is not a list of counts such as 8(x2),4", text));
    counts.insert(counts.end(), *repeat, static_cast<unsigned>(*value));
  }
  return counts;
}

std::string fold_hostlist(const std::vector<std::string>& names) {
  struct Run {
    std::string stem;
    std::vector<std::string> numbers;
  };

  std::vector<Run> runs;
  for (const std::string& name : names) {
    const std::size_t cut = name.find_last_not_of("0123456789") + 1;
    const std::string number = name.substr(cut);
    if (runs.empty() || number.empty() || runs.back().stem != name.substr(0, cut) ||
        runs.back().numbers[0].size() != number.size())
      runs.push_back({name.substr(0, cut), {}});
    runs.back().numbers.push_back(number);
  }
  std::vector<std::string> parts;
  for (const Run& run : runs) {
    if (run.numbers.size() == 1) {
      parts.push_back(run.stem + run.numbers[0]);
      continue;
    }
    std::vector<std::string> ranges;
    for (std::size_t i = 0; i < run.numbers.size();) {
      std::size_t last = i;
      while (last + 1 < run.numbers.size() && parse_number(run.numbers[last + 1]).value_or(0) ==
                                                  parse_number(run.numbers[last]).value_or(0) + 1)
        ++last;
      ranges.push_back(last == i ? run.numbers[i] : run.numbers[i] + "-" + run.numbers[last]);
      i = last + 1;
    }
    parts.push_back(run.stem + "[" + join(ranges, ",") + "]");
  }
  return join(parts, ",");
}

}  // namespace dts
