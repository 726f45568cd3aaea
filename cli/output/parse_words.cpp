// SPDX-License-Identifier: Apache-2.0
#include "cli/output/parse_words.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <cctype>
#include <string_view>

namespace dts::cli {
namespace {

// "--nodes: 1 required N missing", "Could not convert: --grace = 1m"
struct Said {
  std::string option;
  std::string rest;
  bool is_conversion = false;
};

Said parts_of_message(std::string message) {
  constexpr std::string_view k_conversion = "Could not convert: ";
  Said said;
  said.is_conversion = message.starts_with(k_conversion);
  if (said.is_conversion) message.erase(0, k_conversion.size());
  const std::string_view mark = said.is_conversion ? " = " : ": ";
  const std::size_t end = message.find(mark);
  if (end == std::string::npos) return said;
  said.option = message.substr(0, end);
  said.rest = message.substr(end + mark.size());
  return said;
}

}  // namespace

std::string words_of(const CLI::ParseError& error, const CLI::App& verb) {
  std::string message = error.what();
  const Said said = parts_of_message(message);
  const CLI::Option* option = said.option.empty() ? nullptr : verb.get_option_no_throw(said.option);
  if (option != nullptr && said.is_conversion)
    return option->get_expected_min() == 0
               ? fmt::format("{} takes no value", said.option)
               : fmt::format("{}: `{}` is not a whole number", said.option, said.rest);
  if (option != nullptr && said.rest.ends_with(" missing"))
    return fmt::format("{0} needs a value: {0} {1}", said.option, option->get_type_name());
  if (option != nullptr && said.rest.starts_with("At Most 1 "))
    return fmt::format("{} may be given only once", said.option);
  if (!message.empty())
    message.front() = static_cast<char>(std::tolower(static_cast<unsigned char>(message.front())));
  return message;
}

}  // namespace dts::cli
