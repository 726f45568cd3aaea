// SPDX-License-Identifier: Apache-2.0
#include "core/convert/convert.hpp"

#include "core/base/text/text.hpp"
#include "core/convert/converter.hpp"
#include "core/convert/expand/blanks.hpp"
#include "core/convert/expand/calls.hpp"
#include "core/convert/expand/expand.hpp"
#include "core/convert/expand/replicas.hpp"
#include "core/convert/expand/wrapper.hpp"
#include "core/convert/words/extent.hpp"
#include "core/lint/rules/facts.hpp"
#include "core/lint/script/subject.hpp"
#include "core/shell/parse.hpp"

#include <algorithm>
#include <array>
#include <optional>

namespace dts::convert {
namespace {

constexpr const char* k_not_kept = "it cannot be read as part of a shell script";

std::size_t rows_that(const Conversion& made, Became became) {
  return static_cast<std::size_t>(
      std::count_if(made.rows.begin(), made.rows.end(), [became](const Row& row) {
        return row.became == became;
      }));
}

// Fewer losses are better; then fewer blanks; then roles, which keep more of the job.
std::array<std::size_t, 3> price_of(const Conversion& made) {
  constexpr std::size_t k_of_no_job = 1000;
  return {rows_that(made, Became::lost) + made.general.size() +
              (made.job_file.empty() ? k_of_no_job : 0),
          rows_that(made, Became::fill_in),
          made.job_file.find("[[roles]]") == std::string::npos ? 1U : 0U};
}

// sbatch hands the environment on unless it is told otherwise.
bool hands_environment_on(const lint::Subject& subject) {
  const lint::Directive* directive = subject.directive("export");
  return directive == nullptr || in_lower_case(directive->value) == "all";
}

std::vector<Span> programs_of(const lint::Subject& subject) {
  std::vector<Span> programs;
  for (const lint::Run* run : lint::outer_work_of(subject)) programs.push_back(run->span);
  return programs;
}

Expanded written_out(const lint::Subject& subject, const Options& options, bool decides) {
  const std::string_view text = subject.text;
  if (!subject.script.problems.empty()) {
    Expanded same{Rewrite(text)};
    same.script.keep({0, text.size()});
    return same;
  }
  const Resolver resolver(subject.job, options.environment);
  Known known(subject.script,
              resolver,
              options.arguments,
              options.environment && hands_environment_on(subject));
  return expanded(
      text, subject.script, programs_of(subject), known, subject.job.nodes.value_or(1), decides);
}

constexpr int k_deepest_calls = 4;

Conversion converted_branches(const lint::Subject& subject, const Options& options, bool decides) {
  const Expanded expanded = written_out(subject, options, decides);
  Conversion made = convert_statements(expanded.script.text(), options);
  if (!expanded.script.is_same()) made.rows = expanded.script.rows_of(made.rows, expanded.rows);
  return made;
}

// With calls of functions written out; nullopt: there is none that can be. `outside`:
// names_outside_functions() of the script as it was written.
std::optional<Conversion> converted_calls(const lint::Subject& subject,
                                          const Options& options,
                                          const Names& outside,
                                          int depth) {
  if (depth == k_deepest_calls || !subject.script.problems.empty()) return std::nullopt;
  const Expanded made =
      with_calls_written_out(subject.text, subject.script, programs_of(subject), outside);
  if (made.script.is_same()) return std::nullopt;
  const lint::Subject next = lint::subject_of(made.script.text(), {}, options.path);
  auto deeper = converted_calls(next, options, outside, depth + 1);
  Conversion done = deeper ? *std::move(deeper) : converted_branches(next, options, true);
  done.rows = made.script.rows_of(done.rows, made.rows);
  return done;
}

// With the work of a trap for the script's end behind the program; nullopt: there is none, or it
// would not be a tear-down but a program, or in the program's shell, whose exit code it would hide.
std::optional<Conversion> converted_trap(const lint::Subject& subject, const Options& options) {
  const Expanded made = with_exit_trap_behind(subject.text, subject.script);
  if (made.script.is_same()) return std::nullopt;
  const lint::Subject next = lint::subject_of(made.script.text(), {}, options.path);
  Conversion done = converted_branches(next, options, false);
  if (!done.is_lossless()) {
    const Names outside = names_outside_functions(next.text, next.script);
    Conversion decided = converted_branches(next, options, true);
    if (price_of(decided) < price_of(done)) done = std::move(decided);
    auto calls = converted_calls(next, options, outside, 0);
    if (calls && price_of(*calls) < price_of(done)) done = *std::move(calls);
  }
  done.rows = made.script.rows_of(done.rows, made.rows);
  const std::vector<Span>& around = made.rows[0].spans;
  const Span trap{around.front().begin, around.back().end};
  const bool is_behind = std::all_of(done.rows.begin(), done.rows.end(), [&](const Row& row) {
    return row.became == Became::tear_down || row.became == Became::unnecessary ||
           !is_within(row.spans[0], trap);
  });
  return is_behind ? std::optional(std::move(done)) : std::nullopt;
}

// With the alike components of a heterogeneous job as nodes; nullopt: it has none.
std::optional<Conversion> converted_replicas(const lint::Subject& subject, const Options& options) {
  const Expanded made = with_replicas_as_nodes(subject);
  if (made.script.is_same()) return std::nullopt;
  const lint::Subject next = lint::subject_of(made.script.text(), {}, options.path);
  Conversion done = converted_branches(next, options, false);
  if (names_components(done.job_file)) return std::nullopt;
  done.rows = made.script.rows_of(done.rows, made.rows);
  return done;
}

}  // namespace

bool Conversion::is_lossless() const {
  return !job_file.empty() && general.empty() &&
         std::none_of(
             rows.begin(), rows.end(), [](const Row& row) { return row.became == Became::lost; });
}

Conversion convert_script(std::string_view text, const Options& options) {
  const Rewrite quoted = with_plain_words(text);
  const Expanded plain = without_wrappers(quoted.text(), shell::parse(quoted.text()));
  const lint::Subject subject = lint::subject_of(plain.script.text(), {}, options.path);
  if (!subject.is_shell) return convert_statements(text, options);
  const std::vector<Span> comments = shell::parse(text).comments;
  std::optional<Conversion> best;
  const auto is_best = [&](Conversion made) {
    if (!plain.script.is_same()) made.rows = plain.script.rows_of(made.rows, plain.rows);
    if (!quoted.is_same()) made.rows = quoted.rows_of(made.rows, {});
    complete(made.rows, text, comments, k_not_kept);
    if (!best || price_of(made) < price_of(*best)) best = std::move(made);
    const auto price = price_of(*best);
    return price[0] + price[1] == 0;
  };
  // What a shell can decide in the job is left to it, unless something would be lost.
  if (is_best(converted_branches(subject, options, false)) ||
      is_best(converted_branches(subject, options, true)))
    return *best;
  const Names outside = names_outside_functions(subject.text, subject.script);
  if (auto made = converted_calls(subject, options, outside, 0)) is_best(*std::move(made));
  if (auto made = converted_trap(subject, options)) is_best(*std::move(made));
  if (auto made = converted_replicas(subject, options)) is_best(*std::move(made));
  return *best;
}

}  // namespace dts::convert
