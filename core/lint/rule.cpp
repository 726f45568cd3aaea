// SPDX-License-Identifier: Apache-2.0
#include "core/lint/rule.hpp"

#include "core/base/text/names.hpp"

#include <algorithm>
#include <iterator>

namespace dts::lint {
namespace {

constexpr Names<Severity, 3> k_severities{
    {{Severity::note, "note"}, {Severity::warning, "warning"}, {Severity::error, "error"}}};

std::vector<Rule> all_rules() {
  std::vector<Rule> all;
  for (auto* const part : {file_rules,
                           directive_rules,
                           option_rules,
                           size_rules,
                           log_rules,
                           return_rules,
                           signal_rules,
                           exit_rules,
                           step_rules,
                           process_rules,
                           rendezvous_rules,
                           gpu_rules,
                           environment_rules}) {
    std::vector<Rule> rules = part();
    std::move(rules.begin(), rules.end(), std::back_inserter(all));
  }
  return all;
}

}  // namespace

const char* to_string(Severity severity) {
  return name_of(k_severities, severity);
}

std::optional<Severity> severity_of(std::string_view word) {
  return value_of(k_severities, word);
}

Finding& Report::add(Span span, std::string message, std::string help, std::vector<Edit> edits) {
  if (help.empty()) help = rule_.fix;
  Finding finding;
  finding.rule = &rule_;
  finding.span = span;
  finding.message = std::move(message);
  finding.help = std::move(help);
  finding.edits = std::move(edits);
  findings_.push_back(std::move(finding));
  return findings_.back();
}

bool holds_for(const Rule& rule, const std::optional<Release>& slurm) {
  if (!slurm) return !rule.needs_release;
  return *slurm >= rule.since && (rule.until == Release{} || *slurm < rule.until);
}

const std::vector<Rule>& rules() {
  static const std::vector<Rule> all = all_rules();
  return all;
}

const Rule* find_rule(std::string_view id) {
  const auto found = std::find_if(
      rules().begin(), rules().end(), [id](const Rule& rule) { return rule.id == id; });
  return found == rules().end() ? nullptr : &*found;
}

}  // namespace dts::lint
