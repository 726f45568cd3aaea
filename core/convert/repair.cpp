// SPDX-License-Identifier: Apache-2.0
#include "core/convert/repair.hpp"

#include <algorithm>

namespace dts::convert {
namespace {

constexpr int k_most_rounds = 16;
constexpr const char* k_no_job_file = "no job file can be made from it";

// The option that a problem is about: "--nodes", "step `train`: --nodes".
std::string option_in(const std::string& where) {
  const std::size_t at = where.rfind("--");
  if (at == std::string::npos) return "";
  return where.substr(at + 2, where.find_first_of(" :", at) - at - 2);
}

// Of "step `train`: --nodes", "train"; empty: it is about the job.
std::string part_in(const std::string& where) {
  const std::size_t begin = where.find('`');
  const std::size_t end = begin == std::string::npos ? begin : where.find('`', begin + 1);
  return end == std::string::npos ? "" : where.substr(begin + 1, end - begin - 1);
}

// False: nothing could be taken out.
bool take_out(const Diagnostic& problem, Draft& draft, std::vector<std::string>& general) {
  const std::string option = option_in(problem.where);
  const auto asked = draft.settings.find(option);
  if (asked != draft.settings.end()) {
    if (asked->second.row == k_no_row)
      general.push_back("--" + option + ": " + clause_of(problem));
    else
      draft.lose(asked->second.row, clause_of(problem));
    draft.settings.erase(asked);
    return true;
  }
  const std::string part = part_in(problem.where);
  for (Step& step : draft.steps)
    if ((part.empty() || step.name == part) && step.settings.erase(option) > 0) {
      draft.lose(step.row, "--" + option + ": " + clause_of(problem));
      return true;
    }
  return false;
}

// The first problem, and the same option's of other steps. False: nothing could be taken out.
bool take_out_all(const Diagnostics& problems, Draft& draft, std::vector<std::string>& general) {
  const std::string option = option_in(problems.front().where);
  bool is_out = false;
  for (const Diagnostic& one : problems)
    if (option_in(one.where) == option) is_out = take_out(one, draft, general) || is_out;
  return is_out;
}

}  // namespace

Conversion repaired(Draft draft) {
  Conversion made;
  const auto has_no_command = [](const Step& step) { return step.command.empty(); };
  if (std::any_of(draft.steps.begin(), draft.steps.end(), has_no_command)) {
    made.general.emplace_back(k_no_job_file);
  } else if (draft.steps.empty()) {
    made.general.emplace_back("no program was found in the script");
  } else {
    const auto array = draft.settings.find("array");
    if (draft.steps.size() > 1 && array != draft.settings.end()) {
      draft.lose(array->second.row, "a job of several steps or roles cannot be an array");
      draft.settings.erase(array);
    }
    for (int round = 0; round < k_most_rounds; ++round) {
      made.job_file = to_job_file(draft);
      const Diagnostics problems = problems_of_job_file(made.job_file);
      if (problems.empty()) break;
      made.job_file.clear();
      if (take_out_all(problems, draft, made.general)) continue;
      if (draft.steps.size() == 1)
        draft.lose(draft.steps[0].row, clause_of(problems.front()));
      else
        made.general.push_back(problems.front().where + ": " + clause_of(problems.front()));
      break;
    }
    if (made.job_file.empty()) made.general.emplace_back(k_no_job_file);
  }
  made.rows = std::move(draft.rows);
  return made;
}

}  // namespace dts::convert
