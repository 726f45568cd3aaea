// SPDX-License-Identifier: Apache-2.0
#include "cli/commands/job_options.hpp"

#include "core/base/files/files.hpp"
#include "core/run/ledger/policy.hpp"

#include <CLI/CLI.hpp>

namespace dts::cli {
namespace {

const char* heading(spec::Group group) {
  switch (group) {
    case spec::Group::job:
      return "Job";
    case spec::Group::hosts:
      return "Hosts";
    case spec::Group::slurm:
      return "Slurm";
  }
  return "";
}

void add_option(CLI::App& verb, const spec::Option& row, JobOptions& options) {
  const std::string name = row.long_name();
  CLI::Option* option = nullptr;
  if (*row.value.type == '\0') {
    option = verb.add_flag(row.names, options.flags[name], row.help);
  } else if (row.value.repeats) {
    option = verb.add_option(row.names, options.repeated[name], row.help);
    option->type_name(row.value.type)->type_size(1)->expected(1)->take_all();
  } else {
    option = verb.add_option(row.names, options.typed[name], row.help);
    option->type_name(row.value.type);
  }
  option->group(row.is_rare && !options.shows_rare ? "" : heading(row.group));
  if (*row.variable != '\0') option->envname(row.variable);
}

// What was typed for it, in the order of typing; a flag has no text.
std::vector<std::string> texts_of(const spec::Option& row, const JobOptions& options) {
  const std::string name = row.long_name();
  if (const auto flag = options.flags.find(name); flag != options.flags.end())
    return std::vector<std::string>(flag->second ? 1 : 0);
  if (const auto several = options.repeated.find(name); several != options.repeated.end())
    return several->second;
  const auto text = options.typed.find(name);
  if (text == options.typed.end() || text->second.empty()) return {};
  return {text->second};
}

}  // namespace

void add_options(CLI::App& verb, spec::Group group, JobOptions& options) {
  for (const spec::Option& row : spec::options())
    if (row.group == group) add_option(verb, row, options);
  if (group != spec::Group::job) return;
  verb.add_option("--runs", options.runs, "folder of run directories [runs]")
      ->group(heading(group))
      ->type_name("DIR")
      ->envname("DTSUBMIT_RUNS");
}

Asked make_spec(const JobOptions& options, const std::vector<std::string>& command) {
  Asked asked;
  asked.spec.command = command;
  for (const spec::Option& row : spec::options())
    for (const std::string& text : texts_of(row, options))
      if (const auto parsed = row.value.parse(text, asked.spec); !parsed)
        asked.problems.push_back(
            {row.long_name(), parsed.error().message, parsed.error().hint, "", 0});
  if (const auto policy = run::parse_policy(asked.spec.on); !policy)
    asked.problems.insert(asked.problems.end(), policy.error().begin(), policy.error().end());
  return asked;
}

std::string trainer_path() {
  const std::string self = program_path();
  return self.substr(0, self.rfind('/')) + "/dttrain";
}

}  // namespace dts::cli
