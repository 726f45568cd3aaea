// SPDX-License-Identifier: Apache-2.0
#include "core/base/text/json_bytes.hpp"

#include "core/base/text/utf8.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <charconv>

namespace dts {

using nlohmann::json;

json bytes_to_json(const std::string& bytes) {
  if (is_utf8(bytes)) return bytes;
  std::string hex;
  for (const unsigned char byte : bytes) hex += fmt::format("{:02x}", byte);
  return {{"hex", hex}};
}

json bytes_to_json(const std::vector<std::string>& list) {
  json values = json::array();
  for (const std::string& bytes : list) values.push_back(bytes_to_json(bytes));
  return values;
}

std::optional<std::string> bytes_from_json(const json& value) {
  if (value.is_string()) return value.get<std::string>();
  if (!value.is_object() || value.size() != 1 || !value.contains("hex") ||
      !value["hex"].is_string())
    return std::nullopt;
  const std::string hex = value["hex"].get<std::string>();
  if (hex.size() % 2 != 0) return std::nullopt;
  std::string bytes;
  for (std::size_t i = 0; i < hex.size(); i += 2) {
    unsigned char byte = 0;
    const char* end = hex.data() + i + 2;
    if (std::from_chars(hex.data() + i, end, byte, 16).ptr != end || byte == 0) return std::nullopt;
    bytes += static_cast<char>(byte);
  }
  return bytes;
}

}  // namespace dts
