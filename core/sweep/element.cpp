// SPDX-License-Identifier: Apache-2.0
#include "core/sweep/element.hpp"

#include "core/base/text/json_text.hpp"
#include "core/base/text/text.hpp"
#include "core/sweep/axis.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace dts::sweep {
namespace {

constexpr const char* k_all_values = "DTSUBMIT_PARAMETERS";

void substitute_all(std::vector<std::string>& texts,
                    const Assignments& values,
                    const Quote& quote = {}) {
  for (std::string& text : texts) text = substitute(text, values, quote);
}

}  // namespace

Assignments assignments_of(const Sweep& sweep, const Element& element) {
  Assignments values;
  for (std::size_t i = 0; i < sweep.names.size(); ++i)
    values.emplace_back(sweep.names[i], element.values[i]);
  values.emplace_back("index", std::to_string(element.index));
  return values;
}

spec::JobSpec element_spec(spec::JobSpec spec, const Sweep& sweep, const Element& element) {
  const Assignments values = assignments_of(sweep, element);
  const Quote quote = [](const std::string& value) { return shell_quote(value); };
  spec.slurm.erase("array");
  spec.sweep.clear();
  spec.sweep_mode.clear();
  spec.job_name = substitute(spec.job_name, values);
  substitute_all(spec.command, values);
  spec.checkpoints = substitute(spec.checkpoints, values, glob_escaped);  // a pattern
  spec.resume = substitute(spec.resume, values);
  substitute_all(spec.setup, values, quote);  // lines of bash
  substitute_all(spec.teardown, values, quote);
  return spec;
}

plan::Plan element_plan(plan::Plan plan, const Sweep& sweep, const Element& element) {
  const Assignments values = assignments_of(sweep, element);
  plan.job_name = substitute(plan.job_name, values);
  substitute_all(plan.command, values);
  return plan;
}

void check_texts(const spec::JobSpec& spec, const Sweep& sweep, Diagnostics& problems) {
  check_placeholders(spec.job_name, sweep.names, "--job-name", problems);
  for (const std::string& text : spec.command)
    check_placeholders(text, sweep.names, "command", problems);
  check_placeholders(spec.checkpoints, sweep.names, "--checkpoints", problems);
  check_placeholders(spec.resume, sweep.names, "--resume", problems);
  for (const std::string& text : spec.setup)
    check_placeholders(text, sweep.names, "--setup", problems);
  for (const std::string& text : spec.teardown)
    check_placeholders(text, sweep.names, "--teardown", problems);
}

std::vector<std::string> unmentioned_parameters(const spec::JobSpec& spec, const Sweep& sweep) {
  std::string texts;
  for (const auto* words : {&spec.command, &spec.setup, &spec.teardown})
    for (const std::string& word : *words) texts += word + "\n";
  const auto is_mentioned = [&texts](const std::string& name) {
    for (const std::string& form : {"{" + name + "}", variable_of(name), std::string(k_all_values)})
      if (texts.find(form) != std::string::npos) return true;
    return false;
  };
  std::vector<std::string> names;
  for (const std::string& name : sweep.names)
    if (!is_mentioned(name)) names.push_back(name);
  return names;
}

Membership membership_of(const Sweep& sweep, const Element& element, JobId array) {
  Membership membership;
  membership.index = element.index;
  membership.array = std::move(array);
  membership.lowest = sweep.elements.front().index;
  membership.highest = sweep.elements.back().index;
  membership.count = static_cast<unsigned>(sweep.elements.size());
  for (std::size_t i = 0; i < sweep.names.size(); ++i)
    membership.parameters.emplace_back(sweep.names[i], element.values[i]);
  return membership;
}

std::vector<std::pair<std::string, std::string>> variables_of(const Membership& membership) {
  const std::string index = std::to_string(membership.index);
  std::vector<std::pair<std::string, std::string>> variables{
      {"SLURM_ARRAY_TASK_ID", index},
      {"SLURM_ARRAY_TASK_MIN", std::to_string(membership.lowest)},
      {"SLURM_ARRAY_TASK_MAX", std::to_string(membership.highest)},
      {"SLURM_ARRAY_TASK_COUNT", std::to_string(membership.count)},
      {variable_of("index"), index}};
  if (!membership.array.empty())
    variables.emplace_back("SLURM_ARRAY_JOB_ID", membership.array.text());
  auto all = nlohmann::ordered_json::object();
  for (const auto& [name, value] : membership.parameters) {
    all[name] = value;
    variables.emplace_back(variable_of(name), value);
  }
  variables.emplace_back(k_all_values, json_line(all));
  return variables;
}

JobId job_of_element(const JobId& array, unsigned index) {
  return JobId::parse(fmt::format("{}_{}", array, index)).value_or(JobId());
}

}  // namespace dts::sweep
