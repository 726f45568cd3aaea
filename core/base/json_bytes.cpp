// SPDX-License-Identifier: Apache-2.0
#include "core/base/json_bytes.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <charconv>

namespace dts {

using nlohmann::json;

bool is_utf8(std::string_view text) {
  for (std::size_t i = 0; i < text.size();) {
    const auto byte = [&](std::size_t k) { return static_cast<unsigned char>(text[k]); };
    const unsigned first = byte(i);
    const std::size_t length = first < 0x80       ? 1
                               : first >> 5 == 6  ? 2
                               : first >> 4 == 14 ? 3
                               : first >> 3 == 30 ? 4
                                                  : 0;
    if (first == 0 || length == 0 || i + length > text.size()) return false;
    unsigned code = length == 1 ? first : first & (0x7fU >> length);
    for (std::size_t k = i + 1; k < i + length; ++k) {
      if (byte(k) >> 6 != 2) return false;
      code = code << 6 | (byte(k) & 0x3fU);
    }
    constexpr unsigned k_smallest[] = {0, 0, 0x80, 0x800, 0x10000};
    if (code < k_smallest[length] || code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff))
      return false;
    i += length;
  }
  return true;
}

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
