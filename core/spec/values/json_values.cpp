// SPDX-License-Identifier: Apache-2.0
#include "core/spec/values/json_values.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace dts::spec {

using nlohmann::json;

Result<std::uint64_t> whole_number(const json& value, std::uint64_t most) {
  // Values written here and not yet parsed again are signed integers.
  const bool is_whole =
      value.is_number_integer() && (value.is_number_unsigned() || value.get<std::int64_t>() >= 0);
  if (!is_whole || value.get<std::uint64_t>() > most)
    return fail(Errc::invalid, fmt::format("expected a whole number of 0 to {}", most));
  return value.get<std::uint64_t>();
}

Result<void> read_text(const json& value, std::string& into) {
  if (!value.is_string()) return fail(Errc::invalid, "expected a string in quotes");
  into = value.get<std::string>();
  return {};
}

Result<void> read_flag(const json& value, bool& into) {
  if (!value.is_boolean()) return fail(Errc::invalid, "expected true or false");
  into = value.get<bool>();
  return {};
}

Result<void> read_texts(const json& value, const char* example, std::vector<std::string>& into) {
  into.clear();
  bool good = value.is_array();
  if (good)
    for (const json& word : value) good = read_text(word, into.emplace_back()).has_value() && good;
  if (good) return {};
  return fail(Errc::invalid, fmt::format("expected a list of strings, e.g. {}", example));
}

}  // namespace dts::spec
