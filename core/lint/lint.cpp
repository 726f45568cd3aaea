// SPDX-License-Identifier: Apache-2.0
#include "core/lint/lint.hpp"

#include "core/base/text/text.hpp"
#include "core/lint/suppress.hpp"

#include <algorithm>
#include <iterator>

namespace dts::lint {

namespace {

std::vector<Finding> lint_subject(const Subject& subject, const Options& options, bool is_script) {
  constexpr std::size_t k_most_of_a_rule = 100;
  const Suppressions suppressions(subject, options.disabled);
  std::vector<Finding> findings;
  for (const Rule& rule : rules()) {
    if (rule.severity < options.least || !holds_for(rule, options.site.slurm)) continue;
    if (suppressions.covers_all_of(rule.id) || (!is_script && !rule.reads_any_text)) continue;
    Report report(rule);
    rule.check(subject, report);
    std::vector<Finding> found = report.take();
    std::erase_if(found, [&](const Finding& one) { return suppressions.covers(one); });
    if (found.size() > k_most_of_a_rule) found.resize(k_most_of_a_rule);
    std::move(found.begin(), found.end(), std::back_inserter(findings));
  }
  std::stable_sort(findings.begin(), findings.end(), [](const Finding& a, const Finding& b) {
    return a.span.begin < b.span.begin;
  });
  return findings;
}

}  // namespace

std::vector<Finding> lint_script(std::string_view text, const Options& options) {
  // sbatch refuses what is larger; only the rule that says so looks at it.
  if (text.size() <= k_largest_script)
    return lint_subject(subject_of(text, options.site, options.file_name), options, true);
  Subject subject;
  subject.text = text;
  return lint_subject(subject, options, true);
}

std::vector<Finding> lint_any_text(std::string_view text, const Options& options) {
  Subject subject;
  subject.text = text;
  subject.plain = in_lower_case(text);
  return lint_subject(subject, options, false);
}

std::string apply_edits(std::string_view text, const std::vector<Finding>& findings) {
  std::vector<Edit> edits;
  for (const Finding& one : findings) edits.insert(edits.end(), one.edits.begin(), one.edits.end());
  std::stable_sort(edits.begin(), edits.end(), [](const Edit& a, const Edit& b) {
    return a.span.begin < b.span.begin;
  });
  std::string fixed;
  std::size_t at = 0;
  for (const Edit& edit : edits) {
    if (edit.span.begin < at) continue;  // overlaps one that was made
    fixed += text.substr(at, edit.span.begin - at);
    fixed += edit.text;
    at = edit.span.end;
  }
  return fixed.append(text.substr(at));
}

}  // namespace dts::lint
