// SPDX-License-Identifier: Apache-2.0
#include "cli/commands/counts.hpp"

#include "core/base/text/text.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <optional>

namespace dts::cli {
namespace {

std::optional<std::uint64_t> count_in(const std::string& text,
                                      std::uint64_t least,
                                      std::uint64_t most) {
  const auto number = parse_number(text);
  return number && *number >= least && *number <= most ? std::optional(*number) : std::nullopt;
}

std::string no_count(const std::string& text, std::uint64_t least, std::uint64_t most) {
  return fmt::format("`{}` is not a whole number from {} to {}", text, least, most);
}

}  // namespace

std::uint64_t read_count(const char* option,
                         const std::string& text,
                         std::uint64_t least,
                         std::uint64_t most,
                         Diagnostics& problems) {
  if (const auto number = count_in(text, least, most)) return *number;
  problems.push_back({option, no_count(text, least, most)});
  return least;
}

void accept_whole(CLI::Option& option, std::uint64_t least, std::uint64_t most) {
  option.check(CLI::Validator(
      [least, most](std::string& text) {
        return count_in(text, least, most) ? std::string() : no_count(text, least, most);
      },
      ""));
}

void accept_words(CLI::Option& option, const std::vector<std::string>& words) {
  option.check(CLI::Validator(
      [words](std::string& text) {
        const bool is_known = std::find(words.begin(), words.end(), text) != words.end();
        return is_known ? std::string()
                        : fmt::format("`{}` is not one of {}", text, join(words, ", "));
      },
      ""));
}

}  // namespace dts::cli
