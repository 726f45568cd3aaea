// SPDX-License-Identifier: Apache-2.0
#include "core/lint/lint.hpp"

#include "core/base/text/text.hpp"
#include "core/lint/script/inner.hpp"
#include "core/lint/suppress.hpp"

#include <algorithm>
#include <iterator>
#include <set>
#include <utility>

namespace dts::lint {

namespace {

void sort_by_place(std::vector<Finding>& findings) {
  std::stable_sort(findings.begin(), findings.end(), [](const Finding& a, const Finding& b) {
    return a.span.begin < b.span.begin;
  });
}

enum class TextKind { script, lines, any_text };

bool reads(const Rule& rule, TextKind kind) {
  return kind == TextKind::script ||
         (kind == TextKind::lines ? rule.reads_lines : rule.reads_any_text);
}

std::vector<Finding> lint_subject(const Subject& subject, const Options& options, TextKind kind) {
  constexpr std::size_t k_most_of_a_rule = 100;
  const Suppressions suppressions(subject, options.disabled);
  std::vector<Finding> findings;
  for (const Rule& rule : rules()) {
    if (rule.severity < options.least || !holds_for(rule, options.site.slurm)) continue;
    if (suppressions.covers_all_of(rule.id) || !reads(rule, kind)) continue;
    Report report(rule);
    rule.check(subject, report);
    std::vector<Finding> found = report.take();
    std::erase_if(found, [&](const Finding& one) { return suppressions.covers(one); });
    if (found.size() > k_most_of_a_rule) found.resize(k_most_of_a_rule);
    std::move(found.begin(), found.end(), std::back_inserter(findings));
  }
  sort_by_place(findings);
  return findings;
}

// Checks a script in a here-document; places refer to the outer script. Text that the outer shell
// inserts is not judged.
std::vector<Finding> lint_inner(const InnerScript& script, const Options& options) {
  std::vector<Finding> findings =
      lint_subject(subject_of(script.text, options.site, ""), options, TextKind::script);
  const Rule* duplicates = find_rule("duplicate-option");  // overriding an option is no mistake
  std::erase_if(findings, [&](const Finding& one) {
    return script.touches_foreign(one.span) || (script.has_command_line && one.rule == duplicates);
  });
  for (Finding& one : findings) {
    one.span = script.in_outer(one.span);
    if (!script.is_verbatim) one.edits.clear();
    for (Edit& edit : one.edits) edit.span = script.in_outer(edit.span);
  }
  return findings;
}

std::vector<Finding> lint_with_inner(const Subject& subject, const Options& options) {
  std::vector<Finding> findings = lint_subject(subject, options, TextKind::script);
  const Suppressions suppressions(subject, options.disabled);
  // Some rules look at every byte of the outer script, inner ones included.
  std::set<std::pair<const Rule*, std::size_t>> known;
  for (const Finding& one : findings) known.emplace(one.rule, one.span.begin);
  for (const InnerScript& script : inner_scripts(subject))
    for (Finding& one : lint_inner(script, options))
      if (!suppressions.covers_all_of(one.rule->id) && !suppressions.covers(one) &&
          known.emplace(one.rule, one.span.begin).second)
        findings.push_back(std::move(one));
  sort_by_place(findings);
  return findings;
}

}  // namespace

std::vector<Finding> lint_script(std::string_view text, const Options& options) {
  // sbatch refuses a larger script, and only the rule that reports this looks at it.
  if (text.size() <= k_largest_script)
    return lint_with_inner(subject_of(text, options.site, options.file_name), options);
  Subject subject;
  subject.text = text;
  return lint_subject(subject, options, TextKind::script);
}

std::vector<Finding> lint_any_text(std::string_view text, const Options& options) {
  Subject subject;
  subject.text = text;
  subject.plain = in_lower_case(text);
  return lint_subject(subject, options, TextKind::any_text);
}

std::vector<Finding> lint_lines(std::string_view lines, const Options& options) {
  const std::string head = "#!/bin/bash\n";
  const std::string script = head + std::string(lines);
  std::vector<Finding> findings =
      lint_subject(subject_of(script, options.site, ""), options, TextKind::lines);
  for (Finding& one : findings) {
    one.edits.clear();
    for (std::size_t* place : {&one.span.begin, &one.span.end})
      *place = std::max(*place, head.size()) - head.size();
  }
  return findings;
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
    if (edit.span.begin < at) continue;  // overlaps an edit that was applied
    fixed += text.substr(at, edit.span.begin - at);
    fixed += edit.text;
    at = edit.span.end;
  }
  return fixed.append(text.substr(at));
}

}  // namespace dts::lint
