// SPDX-License-Identifier: Apache-2.0
#include "core/doctor/facts.hpp"

#include "core/base/text/text.hpp"
#include "core/base/text/units.hpp"

#include <algorithm>

namespace dts::doctor {

std::string_view setting(const Facts& facts, std::string_view name) {
  const auto found = facts.settings.find(name);
  return found == facts.settings.end() ? std::string_view() : std::string_view(found->second);
}

bool lists(const Facts& facts, std::string_view name, std::string_view item) {
  const auto items = split(setting(facts, name), ',');
  return std::any_of(items.begin(), items.end(), [&](const std::string& one) {
    return in_lower_case(trim(one)) == in_lower_case(item);
  });
}

std::optional<std::uint64_t> number(const Facts& facts, std::string_view name) {
  const std::string_view value = setting(facts, name);
  return parse_number(value.substr(0, value.find_first_not_of("0123456789")));
}

std::optional<std::chrono::seconds> time_in(const Facts& facts, std::string_view name) {
  const auto time = parse_time_limit(setting(facts, name));
  return time ? std::optional(*time) : std::nullopt;
}

const sched::QosInfo* qos_of(const Facts& facts) {
  const std::string& asked = facts.job.qos;
  const auto found = std::find_if(facts.qos.begin(), facts.qos.end(), [&](const auto& one) {
    return asked.empty() ? one.is_default : one.name == asked;
  });
  return found == facts.qos.end() ? nullptr : &*found;
}

bool knows_settings(const Facts& facts) {
  return !facts.settings.empty();
}

}  // namespace dts::doctor
