// SPDX-License-Identifier: Apache-2.0
// dtsubmit convert: makes a job file from a batch script, and reports what became of each line.
#include "core/convert/convert.hpp"

#include "cli/commands/command.hpp"
#include "cli/commands/convert_test.hpp"
#include "cli/commands/script_file.hpp"
#include "cli/output/convert.hpp"
#include "cli/output/terminal.hpp"
#include "core/base/exit_codes.hpp"
#include "core/base/files/files.hpp"
#include "core/base/os/environment.hpp"
#include "core/base/os/log.hpp"
#include "core/base/os/program_file.hpp"
#include "core/lint/lint.hpp"
#include "core/lint/tokens.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <unistd.h>

#include <filesystem>
#include <memory>
#include <optional>

namespace dts::cli {
namespace {

struct ConvertOptions {
  std::string file, output;
  bool force = false, json = false, tests = false;
};

Result<void> check_output(const ConvertOptions& typed) {
  if (typed.output.empty()) return {};
  if (!typed.output.ends_with(".toml"))
    return fail(Errc::usage,
                fmt::format("-o {}: a job file's name ends in .toml", typed.output),
                fmt::format("write -o {}.toml", typed.output));
  if (exists(typed.output) && !typed.force)
    return fail(Errc::invalid, typed.output + " exists", "--force overwrites it");
  return {};
}

bool is_in_folder(const std::string& name) {
  return !find_program(name) && find_program("./" + name);
}

// bash(1), PWD: as the shell sets it, whatever a program that changed its folder left there.
std::optional<std::string> variable_of_shell(const char* name) {
  const auto value = getenv_lookup(name);
  std::error_code error;
  if (std::string_view(name) != "PWD" ||
      (value && value->starts_with('/') && std::filesystem::equivalent(*value, ".", error) &&
       !error))
    return value;
  const std::filesystem::path here = std::filesystem::current_path(error);
  return error ? std::nullopt : std::optional(here.string());
}

Result<int> act(const ConvertOptions& typed, const std::vector<std::string>& arguments) {
  DTS_TRY(check_output(typed));
  DTS_TRY(refuse_folder(typed.file));
  DTS_ASSIGN(std::string text, read_script(typed.file));
  DTS_TRY(check_is_text(typed.file, text));
  Converted converted;
  converted.path = typed.file;
  converted.output = typed.output;
  converted.made =
      convert::convert_script(text, {typed.file, arguments, variable_of_shell, is_in_folder});
  converted.text = std::move(text);
  const std::string job_file = job_file_text(converted);
  if (typed.tests) converted.comparison = compare_by_test(typed.file, arguments, job_file);
  const mode_t mode = lint::find_tokens(job_file).empty() ? 0666 : 0600;
  if (!typed.output.empty() && !job_file.empty()) DTS_TRY(write_file(typed.output, job_file, mode));
  if (typed.json)
    fmt::print("{}", account_json(converted));
  else
    tell("{}", account_text(converted, wants_colour(STDERR_FILENO)));
  if (!typed.json && typed.output.empty()) fmt::print("{}", job_file);
  const bool is_lossless = converted.made.is_lossless();
  if (!typed.json && !typed.output.empty() && !job_file.empty())
    tell("{} {}\n", is_lossless ? "dtsubmit" : "check what is lost, then: dtsubmit", typed.output);
  return is_lossless ? 0 : k_lossy;
}

}  // namespace

void add_convert(CLI::App& app, Invocation& invocation) {
  const auto options = std::make_shared<ConvertOptions>();
  CLI::App* verb = app.add_subcommand("convert", "convert a batch script to a job file");
  verb->footer(
      "Arguments of the script go after `--`.\n"
      "Exit codes: 0 nothing is lost (blanks may be left), 1 something is lost, others as in "
      "dtsubmit(1).");
  verb->add_option("file", options->file, "batch script; - for standard input")
      ->type_name("FILE")
      ->required();
  verb->add_option("-o,--output", options->output, "write the job file here [standard output]")
      ->type_name("FILE.toml");
  verb->add_flag("--force", options->force, "overwrite an existing job file");
  verb->add_flag(
      "--test", options->tests, "ask Slurm whether the script and the job request the same");
  verb->add_flag("--json", options->json, "one JSON document, schema dtsubmit/convert/1");
  verb->callback([options, &invocation] {
    invocation.action = [options, &invocation] { return act(*options, invocation.command); };
  });
}

}  // namespace dts::cli
