// SPDX-License-Identifier: Apache-2.0
// The output of `dtsubmit lint` for users.
#include "cli/output/lint.hpp"
#include "core/base/text/counted.hpp"
#include "core/base/text/text.hpp"
#include "core/base/text/utf8.hpp"
#include "core/lint/place.hpp"

#include <fmt/format.h>

namespace dts::cli {
namespace {

using lint::Finding;
using lint::Severity;

constexpr std::size_t k_longest_source_line = 400;

std::string coloured(Severity severity, bool in_colour) {
  const std::string word = lint::to_string(severity);
  if (!in_colour) return word;
  const char* const colour = severity == Severity::error     ? "31"
                             : severity == Severity::warning ? "33"
                                                             : "36";
  return fmt::format("\033[1;{}m{}\033[0m", colour, word);
}

Diagnostic diagnostic_of(const LintedFile& file, const Finding& finding, bool in_colour) {
  const lint::Place place = lint::place_at(file.text, finding.span.begin);
  Diagnostic shown;
  shown.where = fmt::format(
      "{}:{}:{}", printable(file.path, k_longest_source_line), place.line, place.column);
  shown.message = fmt::format("{}: {} [{}]",
                              coloured(finding.rule->severity, in_colour),
                              printable(finding.message, k_longest_source_line),
                              finding.rule->id);
  shown.hint = printable(finding.help, k_longest_source_line);
  if (finding.hides_source) return shown;
  lint::Excerpt excerpt = lint::excerpt_at(file.text, finding.span.begin);
  shown.source = std::move(excerpt.line);
  shown.column = static_cast<int>(excerpt.column);
  return shown;
}

std::string release_words(const LintReport& report) {
  if (!report.slurm) return "any release of Slurm (--slurm names one)";
  const char* const who = report.slurm_from == ReleaseFrom::controller  ? "the controller's release"
                          : report.slurm_from == ReleaseFrom::installed ? "installed here"
                                                                        : "--slurm";
  return fmt::format("Slurm {} ({})", to_string(*report.slurm), who);
}

// "2 findings (1 error, 1 note) in 3 files"
std::string summary(const LintReport& report) {
  std::size_t errors = 0, warnings = 0, notes = 0;
  for (const LintedFile& file : report.files)
    for (const Finding& finding : file.findings)
      ++(finding.rule->severity == Severity::error     ? errors
         : finding.rule->severity == Severity::warning ? warnings
                                                       : notes);
  std::vector<std::string> parts;
  if (errors > 0) parts.push_back(counted(errors, "error"));
  if (warnings > 0) parts.push_back(counted(warnings, "warning"));
  if (notes > 0) parts.push_back(counted(notes, "note"));
  return fmt::format("{} in {}, by the rules for {}\n",
                     parts.empty() ? "nothing found" : join(parts, ", "),
                     counted(report.files.size(), "file"),
                     release_words(report));
}

std::string releases_of(const lint::Rule& rule) {
  const bool has_since = rule.since != Release{}, has_until = rule.until != Release{};
  if (has_since && has_until)
    return fmt::format("{} to before {}", to_string(rule.since), to_string(rule.until));
  if (has_since) return "from " + to_string(rule.since);
  return has_until ? "before " + to_string(rule.until) : "";
}

}  // namespace

std::size_t LintReport::count() const {
  std::size_t all = 0;
  for (const LintedFile& file : files) all += file.findings.size();
  return all;
}

std::string to_text(const LintReport& report, bool in_colour) {
  std::string text;
  for (const LintedFile& file : report.files) {
    if (file.is_fixed)
      text += fmt::format("{}: rewritten\n", printable(file.path, k_longest_source_line));
    for (const Finding& finding : file.findings)
      text += dts::to_text(diagnostic_of(file, finding, in_colour)) + "\n";
  }
  return text + summary(report);
}

std::string rules_text() {
  std::string text;
  for (const lint::Rule& rule : lint::rules())
    text += fmt::format("{:<26} {:<8} {}\n", rule.id, lint::to_string(rule.severity), rule.title);
  return text;
}

std::string rule_text(const lint::Rule& rule) {
  std::string text =
      fmt::format("{} ({}): {}\n\n", rule.id, lint::to_string(rule.severity), rule.title);
  text += std::string(rule.reason) + "\n\n";
  text += fmt::format("what to do: {}\n", rule.fix);
  if (rule.can_fix) text += "--fix does it\n";
  if (const std::string releases = releases_of(rule); !releases.empty())
    text += fmt::format(
        "Slurm {}{}\n", releases, rule.needs_release ? "; only where the release is known" : "");
  return text + fmt::format("to turn it off: # dtsubmit: disable={}\n", rule.id);
}

}  // namespace dts::cli
