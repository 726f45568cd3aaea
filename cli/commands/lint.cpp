// SPDX-License-Identifier: Apache-2.0
// dtsubmit lint: finds mistakes in batch scripts and job files before they wait in the queue.
#include "cli/output/lint.hpp"

#include "cli/commands/command.hpp"
#include "cli/commands/job_layers.hpp"
#include "cli/commands/lint_job_file.hpp"
#include "cli/commands/script_file.hpp"
#include "cli/output/report.hpp"
#include "cli/output/terminal.hpp"
#include "core/base/exit_codes.hpp"
#include "core/base/files/files.hpp"
#include "core/base/os/detached_call.hpp"
#include "core/base/os/wait.hpp"
#include "core/base/text/text.hpp"
#include "core/lint/lint.hpp"
#include "core/plugin/scheduler.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <memory>
#include <utility>

namespace dts::cli {
namespace {

struct LintOptions {
  std::vector<std::string> files;
  std::vector<std::string> disabled;
  std::string slurm, severity, explained;
  bool fix = false, json = false, sarif = false, lists_rules = false;
};

std::vector<std::string> rule_ids() {
  std::vector<std::string> ids;
  for (const lint::Rule& rule : lint::rules()) ids.emplace_back(rule.id);
  return ids;
}

Result<const lint::Rule*> rule_named(const std::string& option, const std::string& id) {
  if (const lint::Rule* rule = lint::find_rule(id)) return rule;
  const auto similar = nearest(id, rule_ids());
  return fail(Errc::usage,
              fmt::format("{}: there is no rule `{}`", option, id),
              similar ? fmt::format("a similar rule exists: `{}`", *similar)
                      : "`dtsubmit lint --rules` lists them");
}

constexpr std::chrono::seconds k_controller_patience{2};
constexpr const char* k_controller = "controller";  // of --slurm

std::optional<Release> release_of_controller() {
  DetachedCall<Result<sched::ConfigInfo>> call;
  call.start([]() -> Result<sched::ConfigInfo> {
    DTS_ASSIGN(const auto scheduler, plugin::load_scheduler());
    return scheduler->config();
  });
  if (!wait_readable(call.event_fd(), std::chrono::steady_clock::now() + k_controller_patience))
    return std::nullopt;
  const auto config = call.take();
  return config && *config ? release_of((*config)->version) : std::nullopt;
}

// The release in "Slurm 22.05.8 through libslurm".
std::optional<Release> release_here() {
  const auto way = plugin::scheduler_access();
  if (!way) return std::nullopt;
  const auto words = split(way->words, ' ');
  for (std::size_t i = 1; i < words.size(); ++i)
    if (words[i - 1] == "Slurm") return release_of(words[i]);
  return std::nullopt;
}

// What the release for --slurm is. Only `controller` uses the network.
std::optional<Release> settled_release(const std::string& typed,
                                       ReleaseFrom& from,
                                       Diagnostics& problems) {
  if (typed.empty()) {
    const auto release = release_here();
    from = release ? ReleaseFrom::installed : ReleaseFrom::nowhere;
    return release;
  }
  const bool asks = typed == k_controller;
  from = asks ? ReleaseFrom::controller : ReleaseFrom::option;
  auto release = asks ? release_of_controller() : release_of(typed);
  if (release) return release;
  if (asks)
    problems.push_back({"--slurm",
                        fmt::format("no answer from the controller, waiting at most {} s",
                                    k_controller_patience.count()),
                        "write its release: 24.11"});
  else
    problems.push_back({"--slurm",
                        fmt::format("`{}` is not a release of Slurm", typed),
                        "write year and month, for example 24.11, or `controller`"});
  return std::nullopt;
}

// Relative to this folder, from which the job would be submitted.
std::optional<bool> folder_exists(const std::string& folder) {
  struct stat info {};

  if (::stat(folder.c_str(), &info) == 0) return S_ISDIR(info.st_mode);
  if (folder[0] != '/') return false;
  // Unknown if it is a path of another machine, that is, unless its parent folder exists here.
  const std::size_t slash = folder.rfind('/');
  if (slash == 0 || ::stat(folder.substr(0, slash).c_str(), &info) != 0) return std::nullopt;
  return false;
}

Result<lint::Options> read(const LintOptions& typed, ReleaseFrom& from) {
  lint::Options options;
  Diagnostics problems;
  for (const std::string& list : typed.disabled)
    for (const std::string& id : split(list, ',')) {
      const auto rule = rule_named("--disable", id);
      if (!rule) problems.push_back({"", rule.error().message, rule.error().hint});
      options.disabled.push_back(id);
    }
  if (const auto least = lint::severity_of(typed.severity))
    options.least = *least;
  else if (!typed.severity.empty())
    problems.push_back({"--severity",
                        fmt::format("`{}` is none", typed.severity),
                        "write note, warning or error"});
  if (!typed.files.empty() || !typed.slurm.empty())
    options.site.slurm = settled_release(typed.slurm, from, problems);
  if (typed.json && typed.sarif) problems.push_back({"--json", "cannot go with --sarif"});
  if (typed.files.empty() && !typed.lists_rules && typed.explained.empty())
    problems.push_back({"", "no file is named", "dtsubmit lint FILE..., or - for standard input"});
  if (!problems.empty()) return tl::unexpected<Error>(to_error(problems, Errc::usage));
  options.site.folder_exists = folder_exists;
  return options;
}

// The report on a file that is too large to read, whatever its contents.
LintedFile too_large(const std::string& path) {
  lint::Finding finding;
  finding.rule = lint::find_rule("script-too-large");
  finding.message =
      fmt::format("Slurm refuses a script of more than {} MiB", lint::k_largest_script >> 20);
  finding.help = finding.rule->fix;
  return {path, "", {std::move(finding)}, false};
}

Result<void> fix(LintedFile& file, const lint::Options& options) {
  const std::string fixed = lint::apply_edits(file.text, file.findings);
  if (fixed == file.text) return {};

  struct stat info {};

  if (file.path == k_standard_input || ::stat(file.path.c_str(), &info) != 0 ||
      !S_ISREG(info.st_mode))
    return fail(Errc::invalid, fmt::format("{} cannot be rewritten: it is not a file", file.path));
  DTS_TRY(write_file(file.path, fixed, info.st_mode & 07777U));
  file.text = fixed;
  file.findings = lint::lint_script(file.text, options);
  file.is_fixed = true;
  return {};
}

Result<LintedFile> look_at(const std::string& path, lint::Options options, bool fixes) {
  DTS_TRY(refuse_folder(path));
  auto text = read_script(path);
  if (!text && text.error().code == Errc::invalid) return too_large(path);
  if (!text) return tl::unexpected<Error>(std::move(text).error());
  DTS_TRY(check_is_text(path, *text));
  options.file_name = path.substr(path.rfind('/') + 1);
  LintedFile file{path, *std::move(text), {}, false};
  if (is_job_file(path)) {
    file.findings = lint_job_file(file.text, path, options);
    return file;
  }
  file.findings = lint::lint_script(file.text, options);
  if (fixes) DTS_TRY(fix(file, options));
  return file;
}

int act_on_files(const LintOptions& typed, const lint::Options& options, ReleaseFrom from) {
  LintReport report_of_all;
  report_of_all.slurm_from = from;
  report_of_all.slurm = options.site.slurm;
  int failure = 0;
  for (const std::string& path : typed.files) {
    auto file = look_at(path, options, typed.fix);
    if (file) {
      report_of_all.files.push_back(*std::move(file));
      continue;
    }
    report(file.error());
    failure = exit_code(file.error().code);
  }
  const bool has_document = typed.json || typed.sarif;
  if (failure != 0 && report_of_all.files.empty() && !has_document) return failure;
  fmt::print("{}",
             typed.json    ? to_json(report_of_all)
             : typed.sarif ? to_sarif(report_of_all)
                           : to_text(report_of_all, wants_colour(STDOUT_FILENO)));
  if (failure != 0) return failure;
  return report_of_all.count() > 0 ? k_findings : 0;
}

Result<int> act(const LintOptions& typed) {
  ReleaseFrom from = ReleaseFrom::nowhere;
  DTS_ASSIGN(const lint::Options options, read(typed, from));
  if (typed.lists_rules) {
    fmt::print("{}", rules_text());
    return 0;
  }
  if (!typed.explained.empty()) {
    DTS_ASSIGN(const lint::Rule* rule, rule_named("--explain", typed.explained));
    fmt::print("{}", rule_text(*rule));
    return 0;
  }
  return act_on_files(typed, options, from);
}

}  // namespace

void add_lint(CLI::App& app, Invocation& invocation) {
  const auto options = std::make_shared<LintOptions>();
  CLI::App* verb =
      app.add_subcommand("lint", "find mistakes in batch scripts and job files before they queue");
  verb->footer(
      "Exit codes: 0 nothing found, 1 findings, others as in dtsubmit(1).\n"
      "In a script, `# dtsubmit: disable=RULE` turns a rule off.");
  verb->add_option("files", options->files, "batch scripts and job files; - for standard input")
      ->type_name("FILE");
  verb->add_option(
          "--slurm",
          options->slurm,
          "the release of Slurm to check for, or `controller` to ask it [the installed one]")
      ->type_name("RELEASE");
  verb->add_option(
          "--severity", options->severity, "report this and worse: note, warning or error [note]")
      ->type_name("LEVEL");
  verb->add_option("--disable", options->disabled, "do not check these rules; repeatable")
      ->type_name("RULE,..")
      ->type_size(1)
      ->allow_extra_args(false);
  verb->add_flag("--fix", options->fix, "rewrite the files where a fix is safe");
  verb->add_flag("--json", options->json, "one JSON document, schema dtsubmit/lint/1");
  verb->add_flag("--sarif", options->sarif, "one SARIF 2.1.0 document, for code hosts");
  verb->add_flag("--rules", options->lists_rules, "list all rules");
  verb->add_option("--explain", options->explained, "explain a rule")->type_name("RULE");
  verb->callback(
      [options, &invocation] { invocation.action = [options] { return act(*options); }; });
}

}  // namespace dts::cli
