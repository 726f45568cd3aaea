// SPDX-License-Identifier: Apache-2.0
#include "plugins/slurm_shared/billing.hpp"

#include "core/base/text/text.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>

namespace slurm_plugin {
namespace {

using nlohmann::json;

constexpr std::string_view k_units = "KMGTP";
constexpr std::string_view k_gpu = "gres/gpu";

// Parses "0.25G"; `base` is the unit of the resource, as a power of 1024.
std::optional<double> weight_of(std::string_view text, int base) {
  int steps = 0;
  if (!text.empty()) {
    const char last = text.back();
    const std::size_t unit = k_units.find(last >= 'a' ? static_cast<char>(last - 'a' + 'A') : last);
    if (unit != std::string_view::npos) {
      steps = std::max(0, static_cast<int>(unit) + 1 - base);
      text.remove_suffix(1);
    }
  }
  const auto number = dts::parse_real(text);
  if (!number) return std::nullopt;
  return *number / std::pow(1024.0, steps);
}

// Returns false if the item is of another resource, or invalid.
bool add_weight(json& billing, std::string_view item) {
  const std::size_t equals = item.find('=');
  if (equals == std::string_view::npos) return false;
  const std::string name = dts::in_lower_case(dts::trim(item.substr(0, equals)));
  const auto weight = weight_of(dts::trim(item.substr(equals + 1)), name == "mem" ? 2 : 0);
  if (!weight) return false;
  if (name == "cpu" || name == "node") {
    billing[name] = *weight;
  } else if (name == "mem") {
    billing["memory_mib"] = *weight;
  } else if (name == k_gpu) {
    billing["gpu"] = *weight;
  } else if (name.starts_with(std::string(k_gpu) + ":")) {
    billing["gpu_types"][name.substr(k_gpu.size() + 1)] = *weight;
  } else {
    return false;
  }
  return true;
}

}  // namespace

json billing_json(std::string_view weights) {
  if (dts::trim(weights).empty() || weights == "(null)") return nullptr;
  json billing = json::object();
  for (const std::string& item : dts::split(weights, ','))
    if (!dts::trim(item).empty() && !add_weight(billing, item))
      billing["others"].push_back(dts::trim(item));
  return billing;
}

const char* billing_rule(bool max_tres, bool max_tres_gres) {
  if (max_tres_gres) return "largest_and_gpus";
  return max_tres ? "largest" : "sum";
}

const char* billing_rule(std::string_view priority_flags) {
  const auto flags = dts::split(priority_flags, ',');
  return billing_rule(dts::is_one_of(flags, "MAX_TRES"), dts::is_one_of(flags, "MAX_TRES_GRES"));
}

}  // namespace slurm_plugin
