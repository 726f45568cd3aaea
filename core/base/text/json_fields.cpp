// SPDX-License-Identifier: Apache-2.0
#include "core/base/text/json_fields.hpp"

#include "core/base/text/json_bytes.hpp"
#include "core/base/text/number_list.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace dts {
namespace {

using nlohmann::json;

constexpr int k_id = 501;  // json's own id for a user error

}  // namespace

void wrong_field(const char* name) {
  throw json::other_error::create(k_id, fmt::format("`{}` is not as expected", name), nullptr);
}

std::uint64_t whole_bits(const json& value,
                         const char* name,
                         std::int64_t least,
                         std::uint64_t most) {
  if (value.is_number_unsigned() && value.get<std::uint64_t>() <= most)
    return value.get<std::uint64_t>();
  if (value.is_number_integer() && !value.is_number_unsigned() && value.get<std::int64_t>() < 0 &&
      value.get<std::int64_t>() >= least)
    return static_cast<std::uint64_t>(value.get<std::int64_t>());
  throw json::other_error::create(
      k_id, fmt::format("`{}` is not a whole number in range", name), nullptr);
}

unsigned count(const json& object, const char* name, unsigned most) {
  return whole<unsigned>(object.at(name), name, most);
}

std::vector<unsigned> numbers(const json& object, const char* name, unsigned most) {
  auto list = parse_number_list(object.at(name).get<std::string>(), most);
  if (!list) wrong_field(name);
  return *std::move(list);
}

std::string bytes(const nlohmann::json& value, const char* name) {
  auto text = bytes_from_json(value);
  if (!text) wrong_field(name);
  return *std::move(text);
}

}  // namespace dts
