// SPDX-License-Identifier: Apache-2.0
#include "core/convert/steps.hpp"

#include "core/base/text/text.hpp"
#include "core/convert/texts.hpp"
#include "core/convert/words/flat.hpp"
#include "core/convert/words/used_arguments.hpp"
#include "core/plan/program/job_name.hpp"

#include <algorithm>

namespace dts::convert {
namespace {

// The line is a blank of a template, or sets a variable to one: {{LOAD_ENV}}, WORK={{folder}},
// '<ENVIRONMENT>' (which blanks.cpp quotes). Not docker ps --format={{.Names}}.
bool has_blank(const Item& item) {
  constexpr std::string_view k_lines[] = {"{{", "'<"};
  constexpr std::string_view k_values[] = {"={{", "=({{", "='<", "=('<"};
  const std::string& source = item.source;
  return std::any_of(std::begin(k_lines),
                     std::end(k_lines),
                     [&](std::string_view blank) { return source.starts_with(blank); }) ||
         (item.only_sets() &&
          std::any_of(std::begin(k_values), std::end(k_values), [&](std::string_view value) {
            return source.find(value) != std::string::npos;
          }));
}

}  // namespace

void fill_in(const Program& program, Step& step, Row& row) {
  if (program.blanks.empty()) return;
  std::vector<std::string> texts;
  for (const Blank& one : program.blanks)
    if (!one.why.empty()) texts.push_back(shown(one.option, one.texts) + ": " + one.why);
  row.became = Became::fill_in;
  row.why = "to fill in: " + join(texts, "; ") + (row.why.empty() ? "" : "; " + row.why);
  step.blanks = program.blanks;
}

void ask_for_arguments(const Part& part, const Options& options, Draft& draft) {
  Row& row = draft.rows[part.row];
  const bool is_run = row.became == Became::program || row.became == Became::set_up ||
                      row.became == Became::tear_down;
  std::vector<std::string> missing;
  if (is_run)
    missing = missing_arguments(
        *part.item.statement, options.arguments.size(), part.role == Role::program);
  if (missing.empty() && is_run && has_blank(part.item)) {
    row.became = Became::fill_in;
    row.why = "a blank in the script, kept as it is" + (row.why.empty() ? "" : "; " + row.why);
  }
  if (missing.empty()) return;
  row.became = Became::fill_in;
  row.why = join(missing, ", ") + (missing.size() > 1 ? " are arguments" : " is an argument") +
            " of the script: convert again with its arguments behind --" +
            (row.why.empty() ? "" : "; " + row.why);
  draft.arguments.insert(missing.begin(), missing.end());
}

void hand_to_container(const Program& program,
                       const SetUpText& set_up,
                       const Draft& draft,
                       Step& step) {
  const auto own = step.settings.find("container-runtime");
  const auto job = draft.settings.find("container-runtime");
  const bool is_pyxis =
      own != step.settings.end()
          ? own->second.texts == std::vector<std::string>{"pyxis"}
          : job != draft.settings.end() && job->second.texts == std::vector<std::string>{"pyxis"};
  if (!is_pyxis) return;
  std::vector<std::string>& all = step.settings["container-env"].texts;
  step.settings["container-env"].row = k_no_row;
  const auto of_job = draft.settings.find("container-env");
  if (of_job != draft.settings.end() && all.empty()) all = of_job->second.texts;
  for (const std::string& name : handed_on(program, set_up))
    if (std::find(all.begin(), all.end(), name) == all.end() &&
        !problem_of("container-env", {name}))
      all.push_back(name);
  if (all.empty()) step.settings.erase("container-env");
}

std::string name_of_step(const std::vector<std::string>& command, const Draft& draft) {
  const std::string name = plan::default_job_name(command);
  std::string unique = name;
  const auto is_taken = [&](const Step& step) { return step.name == unique; };
  for (int i = 2; std::any_of(draft.steps.begin(), draft.steps.end(), is_taken); ++i)
    unique = name + "-" + std::to_string(i);
  return unique;
}

}  // namespace dts::convert
