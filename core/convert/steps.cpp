// SPDX-License-Identifier: Apache-2.0
#include "core/convert/steps.hpp"

#include "core/base/text/text.hpp"
#include "core/convert/expand/shapes.hpp"
#include "core/convert/texts.hpp"
#include "core/convert/words/flat.hpp"
#include "core/convert/words/used_arguments.hpp"
#include "core/lint/script/program.hpp"
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

namespace {

// if [ $# -lt 1 ]; then echo usage; exit 1; fi; [ -n "$1" ] || { usage; exit 1; }
bool only_checks_arguments(const Item& item) {
  constexpr std::string_view k_words[] = {
      "echo", "printf", "cat", "exit", "[", "[[", "test", "false", "help", "basename"};
  const shell::Command* whole = whole_command(*item.statement);
  const bool has_branch =
      whole != nullptr && whole->kind == shell::Command::Kind::branch && whole->bodies.size() == 1;
  bool ends = false;
  bool does_more = false;
  each_command({*item.statement}, [&](const shell::Command& command) {
    const std::string verb =
        command.kind == shell::Command::Kind::simple ? first_word(command) : "";
    ends = ends || verb == "exit";
    const bool is_usage = verb.find("usage") != std::string::npos;
    does_more = does_more || (!verb.empty() && !is_usage && !is_one_of(k_words, verb));
  });
  const bool is_list = whole == nullptr && item.statement->pipelines.size() == 2;
  return (has_branch || is_list) && ends && !does_more && !item.statement->background &&
         item.sets.variables.empty() && uses_arguments(*item.statement) &&
         !uses_all_arguments(*item.statement);
}

// $1 and ${1} in its here-documents, unless their delimiters are quoted.
void add_missing_in_documents(const Item& item,
                              std::size_t count,
                              std::vector<std::string>& missing) {
  if (item.tail.empty() || item.source.find("<<'") != std::string::npos ||
      item.source.find("<<\"") != std::string::npos ||
      item.source.find("<<\\") != std::string::npos)
    return;
  for (std::size_t at = item.tail.find('$'); at != std::string::npos;
       at = item.tail.find('$', at + 1)) {
    const std::size_t begin = at + (item.tail.substr(at, 2) == "${" ? 2 : 1);
    const std::size_t end =
        std::min(item.tail.find_first_not_of("0123456789", begin), item.tail.size());
    const bool is_plain = begin == at + 1 || (end < item.tail.size() && item.tail[end] == '}');
    const auto number = parse_number(item.tail.substr(begin, end - begin));
    const std::string name = "$" + item.tail.substr(begin, end - begin);
    if (number && *number > count && is_plain && (at == 0 || item.tail[at - 1] != '\\') &&
        std::count(missing.begin(), missing.end(), name) == 0)
      missing.push_back(name);
  }
}

}  // namespace

void drop_argument_checks(std::vector<Part>& parts) {
  for (Part& part : parts)
    if (part.role == Role::around && only_checks_arguments(part.item))
      part.verdict = {Verdict::Kind::unnecessary,
                      "checks the script's arguments, of which the job file has the values"};
}

void ask_for_arguments(const Part& part, const Options& options, Draft& draft) {
  Row& row = draft.rows[part.row];
  const bool is_run = row.became == Became::program || row.became == Became::set_up ||
                      row.became == Became::tear_down;
  std::vector<std::string> missing;
  if (is_run) {
    missing = missing_arguments(
        *part.item.statement, options.arguments.size(), part.role == Role::program);
    add_missing_in_documents(part.item, options.arguments.size(), missing);
  }
  if (missing.empty() && is_run && has_blank(part.item)) {
    row.became = Became::fill_in;
    row.why = "a blank in the script, kept as it is" + (row.why.empty() ? "" : "; " + row.why);
  }
  if (missing.empty() && is_run && options.arguments.empty() && reads_options(*part.item.statement))
    row.why =
        "there are no arguments: if the script gets some, convert it again with them behind --" +
        (row.why.empty() ? "" : "; " + row.why);
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

void keep_job_name(const lint::Subject& subject, const Options& options, Draft& draft) {
  const bool is_used = std::any_of(
      subject.script.statements.begin(), subject.script.statements.end(), [&](const auto& one) {
        const Span& span = one.span;
        return used_names(subject.text.substr(span.begin, span.end - span.begin))
                   .count("SLURM_JOB_NAME") > 0;
      });
  const auto& directives = subject.header.directives;
  const bool is_in_log =
      std::any_of(directives.begin(), directives.end(), [](const lint::Directive& one) {
        return (one.name == "output" || one.name == "error") &&
               one.value.find("%x") != std::string::npos;
      });
  const bool is_input = options.path.empty() || options.path == "-";
  const std::string name = is_input ? "sbatch" : lint::base_name(options.path);
  if ((is_used || is_in_log) && subject.directive("job-name") == nullptr &&
      !problem_of("job-name", {name}))
    draft.settings["job-name"] = {{name}, k_no_row};
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
