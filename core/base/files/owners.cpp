// SPDX-License-Identifier: Apache-2.0
#include "core/base/files/owners.hpp"

#include "core/base/files/files.hpp"
#include "core/base/text/text.hpp"

#include <unistd.h>

#include <cstdint>
#include <string>
#include <vector>

namespace dts {
namespace {

struct Range {
  std::uint64_t inside, outside, count;
};

bool holds(std::uint64_t first, std::uint64_t count, std::uint64_t id) {
  return id >= first && id - first < count;
}

// "INSIDE OUTSIDE COUNT", separated by blanks.
std::optional<Range> parse_range(std::string_view line) {
  std::vector<std::uint64_t> numbers;
  for (const std::string& word : split(line, ' ')) {
    if (word.empty()) continue;
    const auto number = parse_number(word);
    if (!number) return std::nullopt;
    numbers.push_back(*number);
  }
  if (numbers.size() != 3) return std::nullopt;
  return Range{numbers[0], numbers[1], numbers[2]};
}

}  // namespace

OwnerView owner_view(uid_t self, std::string_view uid_map, std::string_view overflow_uid) {
  OwnerView view{self};
  const auto overflow = parse_number(trim(overflow_uid));
  if (!overflow || *overflow == 0 || *overflow > 0xffffffffU || trim(uid_map).empty()) return view;
  for (const std::string& line : split(trim(uid_map), '\n')) {
    const auto range = parse_range(line);
    if (!range || holds(range->outside, range->count, 0) ||
        holds(range->inside, range->count, *overflow))
      return view;
  }
  view.stranger = static_cast<uid_t>(*overflow);
  return view;
}

OwnerView owner_view() {
  return owner_view(::geteuid(),
                    read_file("/proc/self/uid_map").value_or(""),
                    read_file("/proc/sys/kernel/overflowuid").value_or(""));
}

}  // namespace dts
