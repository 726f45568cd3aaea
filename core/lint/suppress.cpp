// SPDX-License-Identifier: Apache-2.0
#include "core/lint/suppress.hpp"

#include "core/base/text/text.hpp"

#include <algorithm>

namespace dts::lint {
namespace {

constexpr std::string_view k_all = "all";

bool names(const std::set<std::string, std::less<>>& rules, std::string_view rule) {
  return rules.contains(rule) || rules.contains(k_all);
}

// "# dtsubmit: disable=a,b" gives a and b.
std::set<std::string, std::less<>> disabled_by(std::string_view comment) {
  comment.remove_prefix(std::min(comment.find_first_not_of("# \t"), comment.size()));
  constexpr std::string_view k_program = "dtsubmit:", k_verb = "disable=";
  if (!comment.starts_with(k_program)) return {};
  comment = trim(comment.substr(k_program.size()));
  if (!comment.starts_with(k_verb)) return {};
  comment = comment.substr(k_verb.size());
  std::set<std::string, std::less<>> rules;
  // Text after the list, such as a reason, is ignored.
  for (const std::string& rule : split(comment.substr(0, comment.find_first_of(" \t")), ','))
    rules.insert(rule);
  return rules;
}

}  // namespace

Suppressions::Suppressions(const Subject& subject, const std::vector<std::string>& disabled)
    : everywhere_(disabled.begin(), disabled.end()) {
  for (const Span& comment : subject.script.comments) read(subject, comment);
}

void Suppressions::read(const Subject& subject, const Span& comment) {
  const std::string_view text = subject.text;
  const std::string_view whole = text.substr(comment.begin, comment.end - comment.begin);
  // The comment may follow the options of an #SBATCH line.
  const std::size_t mark = whole.rfind('#');
  auto rules = disabled_by(whole.substr(mark == 0 || whole.starts_with("#SBATCH") ? mark : 0));
  if (rules.empty()) return;
  const std::size_t line = text.substr(0, comment.begin).rfind('\n') + 1;  // npos + 1 is 0
  const bool is_alone =
      !whole.starts_with("#SBATCH") && trim(text.substr(line, comment.begin - line)).empty();
  if (is_alone && comment.begin < subject.header.end) return everywhere_.merge(rules);
  // A comment covers its own line, or if it stands alone the first line of the next statement.
  const std::size_t end = std::min(text.find('\n', comment.begin), text.size());
  Span span{line, end};
  if (is_alone) {
    std::size_t next = std::min(text.find_first_not_of(" \t\r\n", end), text.size());
    while (next < text.size() && text[next] == '#')
      next =
          std::min(text.find_first_not_of(" \t\r\n", std::min(text.find('\n', next), text.size())),
                   text.size());
    span = {next, std::min(text.find('\n', next), text.size())};
    for (const Run& run : subject.runs.runs)
      if (run.span.begin >= span.begin && run.span.begin <= span.end)
        span.end = std::max(span.end, run.span.end);
  }
  regions_.push_back({span, std::move(rules)});
}

bool Suppressions::covers_all_of(std::string_view rule) const {
  return names(everywhere_, rule);
}

bool Suppressions::covers(const Finding& finding) const {
  return std::any_of(regions_.begin(), regions_.end(), [&](const Region& region) {
    return finding.span.begin >= region.span.begin && finding.span.begin <= region.span.end &&
           names(region.rules, finding.rule->id);
  });
}

}  // namespace dts::lint
