// SPDX-License-Identifier: Apache-2.0
#include "cli/commands/lint_job_file.hpp"

#include "core/base/text/text.hpp"
#include "core/lint/script/program.hpp"
#include "core/spec/file/layers.hpp"
#include "core/spec/file/locate.hpp"
#include "core/spec/parts.hpp"
#include "core/spec/size.hpp"
#include "core/spec/validate.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <optional>

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

// The offset of the byte at "FILE:LINE:COLUMN"; 0 if `where` has no such place.
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

// The shell lines of a job file, with the values that contain them.
struct ShellLines {
  struct Value {
    std::string pointer;    // of the value in the document
    std::size_t begin = 0;  // in `text`
  };

  std::string text{};
  std::vector<Value> values{};

  void add(const nlohmann::json& value, const std::string& pointer) {
    if (!value.is_string()) return;
    values.push_back({pointer, text.size()});
    text += value.get<std::string>() + "\n";
  }
};

// The index of the text in ["bash", "-c", TEXT].
std::optional<std::size_t> text_of_shell(const nlohmann::json& command) {
  if (!command.is_array()) return std::nullopt;
  for (std::size_t i = 0; i + 2 < command.size(); ++i) {
    if (!command[i].is_string() || !command[i + 1].is_string()) return std::nullopt;
    const std::string name = lint::base_name(command[i].get<std::string>());
    const std::string option = command[i + 1].get<std::string>();
    if ((name == "bash" || name == "sh") && option.starts_with('-') && option.ends_with('c'))
      return i + 2;
  }
  return std::nullopt;
}

// Searches the whole document, since steps and roles have shell lines of their own.
void find_shell(const nlohmann::json& value,
                const std::string& pointer,
                std::vector<ShellLines>& found) {
  if (!value.is_structured()) return;
  for (const auto& [key, member] : value.items()) {
    const std::string place = pointer + "/" + key;
    ShellLines lines;
    if (key == "setup" || key == "teardown") {
      lines.add(member, place);
      if (member.is_array())
        for (std::size_t i = 0; i < member.size(); ++i)
          lines.add(member[i], fmt::format("{}/{}", place, i));
    } else if (const auto at = key == "command" ? text_of_shell(member) : std::nullopt) {
      lines.add(member[*at], fmt::format("{}/{}", place, *at));
    } else {
      find_shell(member, place, found);
    }
    if (!lines.text.empty()) found.push_back(std::move(lines));
  }
}

// The place in the file of what `span` covers in the lines. In the file, it may be written with
// escapes.
lint::Span place_in(const std::string& file,
                    const spec::Document& document,
                    const ShellLines& lines,
                    const lint::Span& span) {
  auto value = std::find_if(lines.values.rbegin(), lines.values.rend(), [&](const auto& one) {
    return one.begin <= span.begin;
  });
  if (value == lines.values.rend()) --value;
  const std::size_t begin = byte_at(file, document.place(value->pointer));
  const std::size_t end = std::min(lines.text.find('\n', span.begin), span.end);
  const std::string words = lines.text.substr(span.begin, end - span.begin);
  const std::size_t at = words.empty() ? std::string::npos : file.find(words, begin);
  const std::size_t farthest = begin + 2 * lines.text.size() + words.size();
  if (at == std::string::npos || at > farthest) return {begin, begin};
  return {at, at + words.size()};
}

void lint_shell_in(const std::string& file,
                   const std::string& path,
                   const lint::Options& options,
                   std::vector<lint::Finding>& findings) {
  Diagnostics known;  // the job-file rule reports these
  const auto document = path.ends_with(".json") ? spec::parse_json(file, path, known)
                                                : spec::parse_toml(file, path, known);
  if (!document) return;
  std::vector<ShellLines> all;
  find_shell(document->value(), "", all);
  for (const ShellLines& lines : all)
    for (lint::Finding& one : lint::lint_lines(lines.text, options)) {
      one.span = place_in(file, *document, lines, one.span);
      findings.push_back(std::move(one));
    }
}

}  // namespace

std::vector<lint::Finding> lint_job_file(const std::string& text,
                                         const std::string& path,
                                         const lint::Options& options) {
  std::vector<lint::Finding> findings = lint::lint_any_text(text, options);
  lint_shell_in(text, path, options, findings);
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
