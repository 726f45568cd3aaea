// SPDX-License-Identifier: Apache-2.0
#include "cli/commands/lint_job_file.hpp"

#include "core/base/text/text.hpp"
#include "core/spec/file/layers.hpp"
#include "core/spec/parts.hpp"
#include "core/spec/size.hpp"
#include "core/spec/validate.hpp"

#include <algorithm>

namespace dts::cli {
namespace {

Diagnostics problems_of(const std::string& text, const std::string& path) {
  Diagnostics problems;
  const auto document = path.ends_with(".json") ? spec::parse_json(text, path, problems)
                                                : spec::parse_toml(text, path, problems);
  if (!document) return problems;
  const spec::Layer settings = spec::settle({spec::layer_of(*document, problems)});
  spec::JobSpec job;
  spec::apply(settings, job, problems);
  if (!problems.empty()) return problems;  // what they ask for together is not known
  spec::settle_size(job, problems);
  spec::resolve_parts(job, problems);
  const Diagnostics together = spec::validate(job);
  problems.insert(problems.end(), together.begin(), together.end());
  // The command may come from elsewhere: the bundled trainer, or the command line.
  std::erase_if(problems, [](const Diagnostic& one) { return one.where == "command"; });
  spec::locate(settings, problems);
  return problems;
}

// The byte that "FILE:LINE:COLUMN" means; 0 if it names no place.
std::size_t byte_at(const std::string& text, const std::string& where) {
  const auto parts = split(where, ':');
  if (parts.size() < 3) return 0;
  const auto line = parse_number(parts[parts.size() - 2]);
  const auto column = parse_number(parts.back());
  if (!line || !column) return 0;
  std::size_t at = 0;
  for (std::uint64_t i = 1; i < *line && at < text.size(); ++i) {
    at = std::min(text.find('\n', at), text.size());
    ++at;
  }
  return std::min(at + *column - 1, text.size());
}

}  // namespace

std::vector<lint::Finding> lint_job_file(const std::string& text,
                                         const std::string& path,
                                         const lint::Options& options) {
  std::vector<lint::Finding> findings = lint::lint_any_text(text, options);
  const lint::Rule* rule = lint::find_rule("job-file");
  const bool is_disabled = std::find(options.disabled.begin(), options.disabled.end(), rule->id) !=
                           options.disabled.end();
  if (is_disabled) return findings;
  for (const Diagnostic& problem : problems_of(text, path)) {
    lint::Finding finding;
    finding.rule = rule;
    const std::size_t at = byte_at(text, problem.where);
    finding.span = {at, at};
    finding.message =
        problem.where.starts_with("--") ? problem.where + ": " + problem.message : problem.message;
    finding.help = problem.hint.empty() ? rule->fix : problem.hint;
    findings.push_back(std::move(finding));
  }
  return findings;
}

}  // namespace dts::cli
