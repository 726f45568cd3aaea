// SPDX-License-Identifier: Apache-2.0
// The output of `dtsubmit lint` for programs.
#include "cli/output/lint.hpp"
#include "core/base/text/json_text.hpp"
#include "core/base/text/names.hpp"
#include "core/base/text/text.hpp"
#include "core/lint/place.hpp"

#include "version.hpp"
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <map>

namespace dts::cli {
namespace {

using json = nlohmann::ordered_json;
using lint::Finding;
using lint::Severity;

std::string dumped(const json& document) {
  return json_text(document);
}

json finding_json(const LintedFile& file, const Finding& finding) {
  const lint::Place begin = lint::place_at(file.text, finding.span.begin);
  const lint::Place end = lint::place_at(file.text, finding.span.end);
  return {{"rule", finding.rule->id},
          {"severity", lint::to_string(finding.rule->severity)},
          {"line", begin.line},
          {"column", begin.column},
          {"end_line", end.line},
          {"end_column", end.column},
          {"message", finding.message},
          {"help", finding.help},
          {"can_fix", !finding.edits.empty()}};
}

// The severities in SARIF's terms (3.27.10).
const char* level_of(Severity severity) {
  return severity == Severity::error ? "error" : severity == Severity::warning ? "warning" : "note";
}

json region_json(std::string_view text, const lint::Span& span) {
  const lint::Place begin = lint::place_at(text, span.begin);
  const lint::Place end = lint::place_at(text, span.end);
  return {{"startLine", begin.line},
          {"startColumn", begin.column},
          {"endLine", end.line},
          {"endColumn", end.column}};
}

// A URI reference (RFC 3986): "my job.sh" is "my%20job.sh".
std::string uri_of(const std::string& path) {
  std::string uri;
  for (const char c : path) {
    const bool is_plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                          (c >= '0' && c <= '9') ||
                          std::string_view("-._~/").find(c) != std::string_view::npos;
    uri += is_plain ? std::string(1, c) : fmt::format("%{:02X}", static_cast<unsigned char>(c));
  }
  return uri;
}

json fixes_json(const LintedFile& file, const Finding& finding) {
  json replacements = json::array();
  for (const lint::Edit& edit : finding.edits)
    replacements.push_back({{"deletedRegion", region_json(file.text, edit.span)},
                            {"insertedContent", {{"text", edit.text}}}});
  return json::array({{{"description", {{"text", finding.help}}},
                       {"artifactChanges",
                        json::array({{{"artifactLocation", {{"uri", uri_of(file.path)}}},
                                      {"replacements", std::move(replacements)}}})}}});
}

json result_json(const LintedFile& file, const Finding& finding, std::size_t rule) {
  json result{{"ruleId", finding.rule->id},
              {"ruleIndex", rule},
              {"level", level_of(finding.rule->severity)},
              {"message", {{"text", fmt::format("{}; {}", finding.message, finding.help)}}},
              {"locations",
               json::array({{{"physicalLocation",
                              {{"artifactLocation", {{"uri", uri_of(file.path)}}},
                               {"region", region_json(file.text, finding.span)}}}}})}};
  if (!finding.edits.empty()) result["fixes"] = fixes_json(file, finding);
  return result;
}

json from_json(ReleaseFrom from) {
  constexpr Names<ReleaseFrom, 3> k_words{{{ReleaseFrom::option, "option"},
                                           {ReleaseFrom::controller, "controller"},
                                           {ReleaseFrom::installed, "installed"}}};
  return from == ReleaseFrom::nowhere ? json() : json(name_of(k_words, from));
}

}  // namespace

std::string to_json(const LintReport& report) {
  json files = json::array();
  std::map<Severity, std::size_t> counts;
  for (const LintedFile& file : report.files) {
    json findings = json::array();
    for (const Finding& finding : file.findings) {
      findings.push_back(finding_json(file, finding));
      ++counts[finding.rule->severity];
    }
    files.push_back(
        {{"file", file.path}, {"fixed", file.is_fixed}, {"findings", std::move(findings)}});
  }
  json document{{"schema", "dtsubmit/lint/1"}};
  document["slurm"] = report.slurm ? json(to_string(*report.slurm)) : json();
  document["slurm_from"] = from_json(report.slurm_from);
  document["errors"] = counts[Severity::error];
  document["warnings"] = counts[Severity::warning];
  document["notes"] = counts[Severity::note];
  document["files"] = std::move(files);
  return dumped(document);
}

std::string to_sarif(const LintReport& report) {
  json rules = json::array();
  for (const lint::Rule& rule : lint::rules())
    rules.push_back({{"id", rule.id},
                     {"shortDescription", {{"text", rule.title}}},
                     {"fullDescription", {{"text", rule.reason}}},
                     {"help", {{"text", rule.fix}}},
                     {"defaultConfiguration", {{"level", level_of(rule.severity)}}}});
  json results = json::array();
  for (const LintedFile& file : report.files)
    for (const Finding& finding : file.findings)
      results.push_back(result_json(
          file, finding, static_cast<std::size_t>(finding.rule - lint::rules().data())));
  const json driver{{"name", "dtsubmit lint"}, {"version", k_version}, {"rules", std::move(rules)}};
  const json run{{"tool", {{"driver", driver}}},
                 {"columnKind", "unicodeCodePoints"},
                 {"results", std::move(results)}};
  return dumped({{"$schema", "https://json.schemastore.org/sarif-2.1.0.json"},
                 {"version", "2.1.0"},
                 {"runs", json::array({run})}});
}

}  // namespace dts::cli
