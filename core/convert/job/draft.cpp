// SPDX-License-Identifier: Apache-2.0
#include "core/convert/job/draft.hpp"

#include "core/base/text/text.hpp"
#include "core/spec/file/write.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <memory>

namespace dts::convert {
namespace {

constexpr const char* k_origin = "script";

std::vector<std::string> typed(const spec::Option& option, const std::vector<std::string>& texts) {
  if (option.value.may_be_bare && (texts.empty() || texts.back().empty())) return {spec::k_bare};
  return texts;
}

nlohmann::json to_table(const Step& step) {
  nlohmann::json table{{"name", step.name}, {"command", step.command}};
  if (step.until_others_end) table["until"] = "others end";
  if (!step.beside.empty()) table["beside"] = step.beside;
  if (step.spares_others) table["on_failure"] = "none";
  for (const spec::Setting& one : layer_of(step.settings)) table[one.key] = *one.value;
  return table;
}

// As comments: "# image = ...".
std::string commented(const std::vector<Blank>& blanks, const std::string& step) {
  std::string text;
  for (const Blank& blank : blanks) {
    std::string line = shown(blank.option, blank.texts);
    std::replace(line.begin(), line.end(), '\n', ' ');
    text += "# " + (step.empty() ? "" : "of " + step + ": ") + line + "\n";
  }
  return text;
}

}  // namespace

const spec::Option* find_option(const std::string& name) {
  return spec::option_named("--" + name);
}

std::string shown(const std::string& name, const std::vector<std::string>& texts) {
  std::string text = spec::to_toml(layer_of({{name, {texts, k_no_row}}}), spec::Origins::omitted);
  while (!text.empty() && text.back() == '\n') text.pop_back();
  return text;
}

std::optional<Diagnostic> problem_of(const std::string& name,
                                     const std::vector<std::string>& texts) {
  const spec::Option* option = find_option(name);
  if (option == nullptr) return Diagnostic{"--" + name, "is not an option of dtsubmit"};
  spec::JobSpec job;
  Diagnostics problems;
  spec::apply({spec::setting_of(*option, typed(*option, texts), k_origin)}, job, problems);
  // Of a container only what its value says by itself.
  if (problems.empty() && option->value.check && !name.starts_with("container") && name != "mount")
    option->value.check(job, "--" + name, problems);
  if (problems.empty()) return std::nullopt;
  return problems.front();
}

std::string clause_of(const Diagnostic& problem) {
  return problem.hint.empty() ? problem.message : problem.message + "; " + problem.hint;
}

std::optional<std::uint64_t> number_in(const Settings& settings, const std::string& name) {
  const auto asked = settings.find(name);
  if (asked == settings.end() || asked->second.texts.empty()) return std::nullopt;
  const std::string& text = asked->second.texts.back();
  return parse_number(text.substr(text.rfind(':') == std::string::npos ? 0 : text.rfind(':') + 1));
}

spec::Layer layer_of(const Settings& settings) {
  spec::Layer layer;
  for (const auto& [name, asked] : settings) {
    const spec::Option* option = find_option(name);
    if (option != nullptr)
      layer.push_back(spec::setting_of(*option, typed(*option, asked.texts), k_origin));
  }
  return layer;
}

RowIndex Draft::add(Row row) {
  rows.push_back(std::move(row));
  return rows.size() - 1;
}

RowIndex Draft::add(Span span, Became became, std::string what, std::string why) {
  return add(Row{{span}, became, std::move(what), std::move(why)});
}

void Draft::take_back(const std::string& option, const std::string& why) {
  const auto asked = settings.find(option);
  if (asked == settings.end()) return;
  if (asked->second.row < rows.size()) {
    Row& row = rows[asked->second.row];
    row.became = Became::unnecessary;
    row.what.clear();
    row.why = why;
  }
  settings.erase(asked);
}

void Draft::lose(RowIndex row, const std::string& why) {
  if (row >= rows.size()) return;
  Row& one = rows[row];
  if (one.became == Became::lost && one.why.find(why) != std::string::npos) return;
  one.why = one.became == Became::lost && !one.why.empty() ? one.why + "; " + why : why;
  one.became = Became::lost;
  one.what.clear();
}

std::string to_job_file(const Draft& draft) {
  spec::Layer layer = layer_of(draft.settings);
  if (draft.steps.size() == 1) {
    Settings all = draft.settings;
    for (const auto& [name, asked] : draft.steps[0].settings) all[name] = asked;
    layer = layer_of(all);
    layer.push_back(spec::setting_of_command(draft.steps[0].command));
  } else if (!draft.steps.empty()) {
    nlohmann::json list = nlohmann::json::array();
    for (const Step& step : draft.steps) list.push_back(to_table(step));
    const std::string key = draft.are_roles ? "roles" : "steps";
    layer.push_back(
        {key, std::make_shared<const nlohmann::json>(std::move(list)), k_origin, "/" + key, {}});
  }
  std::string blanks = commented(draft.blanks, "");
  for (const Step& step : draft.steps)
    blanks +=
        commented(step.blanks,
                  draft.steps.size() > 1 ? (draft.are_roles ? "role " : "step ") + step.name : "");
  if (!draft.arguments.empty())
    blanks += "# arguments of the script: " +
              join(std::vector<std::string>(draft.arguments.begin(), draft.arguments.end()), ", ") +
              "\n";
  if (!blanks.empty()) blanks = "# Fill in what the script leaves open:\n" + blanks;
  return blanks + spec::to_toml(layer, spec::Origins::omitted);
}

}  // namespace dts::convert
