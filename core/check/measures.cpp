// SPDX-License-Identifier: Apache-2.0
#include "core/check/measures.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace dts::check {
namespace {

struct Scaled {
  std::string digits;
  std::string unit;
};

std::string three_digits(double value) {
  const double size = std::fabs(value);
  return fmt::format("{:.{}f}", value, size < 9.995 ? 2 : size < 99.95 ? 1 : 0);
}

Scaled scaled(double value, std::string_view unit) {
  constexpr std::array k_prefixes{"n", "u", "m", "", "k", "M", "G", "T", "P", "E"};
  constexpr std::size_t k_one = 3;
  if (unit.empty()) return {fmt::format("{:.6g}", value), ""};
  if (value == 0) return {"0", std::string(unit)};
  std::size_t prefix = k_one;
  double shown = value;
  // 999.7 is shown as 1.00 with the next prefix, not as 1000.
  while (std::fabs(shown) >= 999.5 && prefix + 1 < k_prefixes.size() &&
         (unit != "s" || prefix < k_one)) {
    shown /= 1000;
    ++prefix;
  }
  while (std::fabs(shown) < 0.9995 && prefix > 0) {
    shown *= 1000;
    --prefix;
  }
  return {three_digits(shown), std::string(k_prefixes[prefix]) + std::string(unit)};
}

}  // namespace

const Measure* find_measure(std::string_view key) {
  const auto* found = std::find_if(
      k_measures.begin(), k_measures.end(), [&](const Measure& row) { return row.key == key; });
  return found == k_measures.end() ? nullptr : found;
}

std::string identity(const Measured& measured) {
  std::string text = measured.key;
  if (measured.numa) text += fmt::format("/{}", *measured.numa);
  if (measured.gpu) text += fmt::format("/{}", *measured.gpu);
  if (measured.peer) text += fmt::format("/{}", *measured.peer);
  if (!measured.model.empty()) text += "/" + measured.model;
  if (!measured.what.empty()) text += "/" + measured.what;
  return text;
}

std::string label(const Measured& measured) {
  const Measure* row = find_measure(measured.key);
  std::string text = row != nullptr ? row->label : measured.key;
  if (measured.numa && !measured.gpu) text += fmt::format(" of NUMA node {}", *measured.numa);
  if (measured.key == "nccl")
    text += fmt::format(", messages of {}", measured.what);
  else if (!measured.what.empty())
    text += fmt::format("{} the {} folder", measured.key == "write" ? " to" : "", measured.what);
  if (measured.gpu) text += fmt::format(" {}", *measured.gpu);
  const bool both = !measured.model.empty() && !measured.path.empty();
  const std::string place = measured.model + (both ? ", " : "") + measured.path;
  if (!place.empty()) text += fmt::format(" ({})", place);
  if (measured.peer) text += fmt::format(" from GPU {}", *measured.peer);
  if (measured.numa && measured.gpu)
    text += fmt::format(" {} NUMA node {}", measured.key == "d2h" ? "to" : "from", *measured.numa);
  return text;
}

std::string heading(const Measured& measured) {
  const Measure* row = find_measure(measured.key);
  std::string text = row != nullptr ? row->heading : measured.key;
  if (measured.numa && !measured.gpu) text += fmt::format(" {}", *measured.numa);
  if (measured.gpu) text += fmt::format(" {}", *measured.gpu);
  if (measured.peer) text += fmt::format(" from {}", *measured.peer);
  if (measured.numa && measured.gpu) text += fmt::format(" NUMA {}", *measured.numa);
  if (!measured.what.empty()) text += " " + measured.what;
  return text;
}

std::string quantity(double value, std::string_view unit) {
  const Scaled text = scaled(value, unit);
  return text.unit.empty() ? text.digits : text.digits + " " + text.unit;
}

std::string percent(double share) {
  return fmt::format("{:.0f} %", share * 100);
}

std::string of_quantity(double value, double whole, std::string_view unit) {
  const Scaled part = scaled(value, unit);
  const Scaled all = scaled(whole, unit);
  if (part.unit == all.unit)
    return fmt::format(
        "{} of {}{}{}", part.digits, all.digits, all.unit.empty() ? "" : " ", all.unit);
  return fmt::format("{} of {}", quantity(value, unit), quantity(whole, unit));
}

}  // namespace dts::check
