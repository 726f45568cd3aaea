// SPDX-License-Identifier: Apache-2.0
#include "cli/commands/job_options.hpp"

#include "core/base/files/files.hpp"
#include "core/base/os/environment.hpp"
#include "core/run/ledger/policy.hpp"
#include "core/spec/size.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <optional>

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

bool is_of_sbatch(const spec::Option& row) {
  return std::string_view(row.variable).substr(0, 7) == "SBATCH_";
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
  if (*row.variable != '\0' && !is_of_sbatch(row)) option->envname(row.variable);
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

// What sbatch would read from its variable (sbatch(1), INPUT ENVIRONMENT VARIABLES).
std::optional<std::string> from_sbatch(const spec::Option& row,
                                       const JobOptions& options,
                                       std::vector<std::string>& notes) {
  if (!options.reads_sbatch_variables || !is_of_sbatch(row)) return std::nullopt;
  auto value = getenv_lookup(row.variable);
  if (!value) return std::nullopt;
  const bool is_flag = *row.value.type == '\0';
  if (value->empty() && row.value.may_be_bare) value = spec::k_bare;
  if (value->empty() && !is_flag) return std::nullopt;
  notes.push_back(fmt::format("{}{} is from {}",
                              row.long_name(),
                              is_flag || *value == spec::k_bare ? "" : "=" + *value,
                              row.variable));
  return value;
}

}  // namespace

std::vector<std::string> with_bare_values(std::vector<std::string> words) {
  for (const spec::Option& row : spec::options())
    if (row.value.may_be_bare)
      std::replace(words.begin(),
                   words.end(),
                   row.long_name(),
                   fmt::format("{}={}", row.long_name(), spec::k_bare));
  return words;
}

void add_options(CLI::App& verb, spec::Group group, JobOptions& options) {
  for (const spec::Option& row : spec::options())
    if (row.group == group) add_option(verb, row, options);
  if (group == spec::Group::slurm) options.reads_sbatch_variables = true;
  if (group != spec::Group::job) return;
  verb.add_option("--runs", options.runs, "folder of run directories [runs]")
      ->group(heading(group))
      ->type_name("DIR")
      ->envname("DTSUBMIT_RUNS");
}

Asked make_spec(const JobOptions& options, const std::vector<std::string>& command) {
  Asked asked;
  asked.spec.command = command;
  for (const spec::Option& row : spec::options()) {
    std::vector<std::string> texts = texts_of(row, options);
    if (texts.empty())
      if (auto text = from_sbatch(row, options, asked.notes)) texts.push_back(*std::move(text));
    for (const std::string& text : texts)
      if (const auto parsed = row.value.parse(text, asked.spec); !parsed)
        asked.problems.push_back(
            {row.long_name(), parsed.error().message, parsed.error().hint, "", 0});
  }
  spec::settle_size(asked.spec, asked.problems);
  if (const auto policy = run::parse_policy(asked.spec.on); !policy)
    asked.problems.insert(asked.problems.end(), policy.error().begin(), policy.error().end());
  return asked;
}

std::string trainer_path() {
  const std::string self = program_path();
  return self.substr(0, self.rfind('/')) + "/dttrain";
}

}  // namespace dts::cli
