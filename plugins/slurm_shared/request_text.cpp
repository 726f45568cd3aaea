// SPDX-License-Identifier: Apache-2.0
#include "plugins/slurm_shared/request_text.hpp"

#include <nlohmann/json.hpp>

namespace slurm_plugin {
namespace {

int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  return -1;
}

}  // namespace

std::string bytes_of(const nlohmann::json& value) {
  if (!value.is_object()) return value.get<std::string>();
  const std::string hex = value.at("hex").get<std::string>();
  std::string bytes;
  for (std::size_t i = 0; i + 1 < hex.size(); i += 2)
    bytes += static_cast<char>(hex_digit(hex[i]) * 16 + hex_digit(hex[i + 1]));
  return bytes;
}

}  // namespace slurm_plugin
