// SPDX-License-Identifier: Apache-2.0
#include "core/convert/job/shell_limits.hpp"

#include "core/base/text/text.hpp"
#include "core/convert/job/draft.hpp"

#include <algorithm>
#include <iterator>

namespace dts::convert {
namespace {

struct Limit {
  std::string_view letter;
  const char* name;
  std::uint64_t unit;  // bytes of a unit of bash's; 1: a number
};

// bash(1), ulimit: what its letters mean, and in which units.
constexpr Limit k_limits[] = {{"-n", "nofile", 1},
                              {"-s", "stack", 1024},
                              {"-l", "memlock", 1024},
                              {"-c", "core", 1024},
                              {"-u", "nproc", 1},
                              {"-v", "as", 1024},
                              {"-d", "data", 1024},
                              {"-f", "fsize", 1024}};

}  // namespace

std::vector<std::string> shell_limits(const std::vector<lint::ExpandedWord>& words) {
  std::vector<std::string> limits;
  for (std::size_t i = 1; i < words.size(); ++i) {
    std::string letter = words[i].value.text;
    if (letter.starts_with("-H")) return {};  // the soft limit stays, and is the one that counts
    if (letter == "-S") continue;
    if (letter.size() == 3 && letter[1] == 'S') letter = {'-', letter[2]};
    const auto* limit = std::find_if(std::begin(k_limits),
                                     std::end(k_limits),
                                     [&](const Limit& one) { return one.letter == letter; });
    if (!letter.starts_with('-') && !limits.empty()) break;  // bash reads one value
    if (limit == std::end(k_limits) || i + 1 >= words.size()) return {};
    std::string value = words[++i].value.text;
    const auto number = parse_number(value);
    if (number && *number < (std::uint64_t{1} << 40)) value = std::to_string(*number * limit->unit);
    if (problem_of("ulimit", {std::string(limit->name) + "=" + value})) return {};
    limits.push_back(std::string(limit->name) + "=" + value);
  }
  return limits;
}

}  // namespace dts::convert
