// SPDX-License-Identifier: Apache-2.0
#include "cli/commands/planned_options.hpp"

#include "core/base/text/json_text.hpp"
#include "core/spec/option.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <string>

namespace dts::cli {
namespace {

std::string text_of(const nlohmann::json& value) {
  return value.is_string() ? value.get<std::string>() : json_line(value);
}

const spec::Setting* setting_for(const spec::Layer& settings, const std::string& option) {
  const spec::Option* row = spec::option_named("--" + option);
  return row == nullptr ? nullptr : spec::setting_of_key(settings, row->file_key());
}

}  // namespace

std::vector<PlannedOption> options_of(const plan::Plan& plan, const spec::Layer& settings) {
  std::vector<PlannedOption> options;
  std::vector<const spec::Setting*> shown;
  for (const plan::Reason& reason : plan.reasons) {
    const spec::Setting* setting = setting_for(settings, reason.name);
    shown.push_back(setting);
    const bool is_asked = reason.as_asked && setting != nullptr;
    options.push_back({reason.name, reason.value, is_asked ? setting->origin : reason.why});
  }
  for (const spec::Setting& setting : settings)
    if (std::find(shown.begin(), shown.end(), &setting) == shown.end())
      options.push_back({setting.key, text_of(*setting.value), setting.origin});
  return options;
}

}  // namespace dts::cli
