// SPDX-License-Identifier: Apache-2.0
#include "cli/commands/job_options.hpp"

#include "cli/commands/job_layers.hpp"
#include "cli/output/help_text.hpp"
#include "core/base/files/files.hpp"
#include "core/base/text/text.hpp"
#include "core/run/ledger/policy.hpp"
#include "core/spec/parts.hpp"
#include "core/spec/size.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>

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
    case spec::Group::check:
      return "Check";
  }
  return "";
}

// Alternative names that sbatch accepts without listing them in its help.
constexpr std::pair<std::string_view, std::string_view> k_other_names[] = {
    {"--tasks-per-node", "--ntasks-per-node"}};

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
    option->type_name(row.value.type)->take_last();  // as sbatch does
  }
  const bool is_hidden = (row.is_rare && !options.shows_rare) ||
                         (!options.is_listed && row.group != spec::Group::check);
  option->group(is_hidden ? k_hidden : heading(row.group));
}

// "--nodes", "--nodes=2", "-N", "-N2"
bool is_named(const spec::Option& row, const std::vector<std::string>& words) {
  for (const std::string& name : split(row.names, ','))
    for (const std::string& word : words)
      if (name.starts_with("--") ? word.substr(0, word.find('=')) == name : word.starts_with(name))
        return true;
  return false;
}

}  // namespace

std::vector<std::string> with_bare_values(std::vector<std::string> words) {
  for (std::string& word : words)
    for (const auto& [other, name] : k_other_names)
      if (word.substr(0, word.find('=')) == other) word.replace(0, other.size(), name);
  for (const spec::Option& row : spec::options())
    if (row.value.may_be_bare)
      std::replace(words.begin(),
                   words.end(),
                   row.long_name(),
                   fmt::format("{}={}", row.long_name(), spec::k_bare));
  return words;
}

void add_options(CLI::App& verb,
                 spec::Group group,
                 JobOptions& options,
                 const Invocation& invocation) {
  for (const spec::Option& row : spec::options())
    if (row.group == group && !options.without.contains(row.long_name()) &&
        (invocation.named.empty() || is_named(row, invocation.named)))
      add_option(verb, row, options);
  options.groups.insert(group);
}

void add_job_file(CLI::App& verb, JobOptions& options) {
  verb.formatter(help_layout(Positionals::in_usage_only));
  verb.add_option("JOB.toml", options.job_file);
  verb.add_option("--save", options.save, "write all of this as a job file, TOML or JSON")
      ->group(options.shows_rare ? heading(spec::Group::job) : k_hidden)
      ->type_name("FILE");
}

std::optional<std::vector<std::string>> texts_of(const spec::Option& row,
                                                 const JobOptions& options) {
  const std::string name = row.long_name();
  if (const auto flag = options.flags.find(name); flag != options.flags.end() && flag->second)
    return std::vector<std::string>{""};
  if (const auto several = options.repeated.find(name);
      several != options.repeated.end() && !several->second.empty())
    return several->second;
  if (const auto text = options.typed.find(name); text != options.typed.end() && text->second)
    return std::vector<std::string>{*text->second};
  return std::nullopt;
}

std::vector<std::string> typed_words(const JobOptions& options) {
  std::vector<std::string> words;
  for (const spec::Option& row : spec::options()) {
    if (row.group == spec::Group::check) continue;
    const auto texts = texts_of(row, options);
    if (!texts) continue;
    for (const std::string& text : *texts)
      words.push_back(*row.value.type == '\0' ? row.long_name()
                                              : fmt::format("{}={}", row.long_name(), text));
  }
  return words;
}

Result<Asked> make_spec(const JobOptions& options, const std::vector<std::string>& command) {
  DTS_TRY(check_job_file(options.job_file));
  Gathered gathered = gather(options, command);
  Asked asked;
  asked.settings = std::move(gathered.settings);
  asked.problems = std::move(gathered.problems);
  asked.notes = std::move(gathered.notes);
  spec::apply(asked.settings, asked.spec, asked.problems);
  if (!options.save.empty() && asked.problems.empty())
    DTS_TRY(save_job_file(asked.settings, options.save));
  spec::settle_size(asked.spec, asked.problems);
  spec::resolve_parts(asked.spec, asked.problems);
  if (const auto policy = run::parse_policy(asked.spec.on); !policy)
    asked.problems.insert(asked.problems.end(), policy.error().begin(), policy.error().end());
  return asked;
}

void enter_folder(Asked& asked) {
  if (!asked.spec.chdir.empty() && ::chdir(asked.spec.chdir.c_str()) != 0)
    asked.problems.push_back(
        {"--chdir", fmt::format("{}: {}", asked.spec.chdir, std::strerror(errno)), ""});
}

std::string trainer_path() {
  const std::string self = program_path();
  return self.substr(0, self.rfind('/')) + "/dttrain";
}

}  // namespace dts::cli
