// SPDX-License-Identifier: Apache-2.0
#include "core/convert/convert.hpp"

#include "core/base/text/text.hpp"
#include "core/convert/converter.hpp"
#include "core/convert/expand/blanks.hpp"
#include "core/convert/expand/expand.hpp"
#include "core/lint/rules/facts.hpp"
#include "core/lint/script/subject.hpp"
#include "core/shell/parse.hpp"

#include <algorithm>

namespace dts::convert {
namespace {

constexpr const char* k_not_kept = "it cannot be read as a part of a shell script";

std::size_t rows_that(const Conversion& made, Became became) {
  return static_cast<std::size_t>(
      std::count_if(made.rows.begin(), made.rows.end(), [became](const Row& row) {
        return row.became == became;
      }));
}

// Fewer losses, and as many losses but fewer blanks, are better.
std::pair<std::size_t, std::size_t> price_of(const Conversion& made) {
  constexpr std::size_t k_of_no_job = 1000;
  return {rows_that(made, Became::lost) + made.general.size() +
              (made.job_file.empty() ? k_of_no_job : 0),
          rows_that(made, Became::fill_in)};
}

// sbatch hands the environment on unless it is told otherwise.
bool hands_environment_on(const lint::Subject& subject) {
  const lint::Directive* directive = subject.directive("export");
  return directive == nullptr || in_lower_case(directive->value) == "all";
}

Expanded written_out(const lint::Subject& subject, const Options& options, bool decides) {
  const std::string_view text = subject.text;
  if (!subject.script.problems.empty()) {
    Expanded same{Rewrite(text)};
    same.script.keep({0, text.size()});
    return same;
  }
  std::vector<Span> programs;
  for (const lint::Run* run : lint::outer_work_of(subject)) programs.push_back(run->span);
  const Resolver resolver(subject.job, options.environment);
  Known known(subject.script,
              resolver,
              options.arguments,
              options.environment && hands_environment_on(subject));
  return expanded(text, subject.script, programs, known, subject.job.nodes.value_or(1), decides);
}

Conversion converted(std::string_view text, const Options& options, bool decides) {
  const Rewrite quoted = with_quoted_blanks(text);
  const lint::Subject subject = lint::subject_of(quoted.text(), {}, options.path);
  if (!subject.is_shell) return convert_statements(text, options);
  const Expanded expanded = written_out(subject, options, decides);
  Conversion made = convert_statements(expanded.script.text(), options);
  if (quoted.is_same() && expanded.script.is_same()) return made;
  made.rows = quoted.rows_of(expanded.script.rows_of(made.rows, expanded.rows), {});
  complete(made.rows, text, shell::parse(text).comments, k_not_kept);
  return made;
}

}  // namespace

bool Conversion::is_lossless() const {
  return !job_file.empty() && general.empty() &&
         std::none_of(
             rows.begin(), rows.end(), [](const Row& row) { return row.became == Became::lost; });
}

Conversion convert_script(std::string_view text, const Options& options) {
  // What a shell can decide in the job is left to it, unless something would be lost.
  Conversion made = converted(text, options, false);
  if (price_of(made) == std::pair<std::size_t, std::size_t>{0, 0}) return made;
  Conversion decided = converted(text, options, true);
  return price_of(decided) < price_of(made) ? decided : made;
}

}  // namespace dts::convert
