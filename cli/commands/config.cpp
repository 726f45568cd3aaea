// SPDX-License-Identifier: Apache-2.0
// dtsubmit config: what a job would request, and the source of each value.
#include "cli/commands/command.hpp"
#include "cli/commands/job_options.hpp"
#include "core/base/os/log.hpp"
#include "core/spec/file/locate.hpp"
#include "core/spec/file/write.hpp"
#include "core/spec/validate.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <memory>

namespace dts::cli {
namespace {

struct ConfigOptions {
  JobOptions job;
  bool origin = false;
  bool json = false;
  bool schema = false;
};

Result<int> act(const ConfigOptions& options, const std::vector<std::string>& command) {
  if (options.schema) {
    fmt::print("{}", spec::job_file_schema());
    return 0;
  }
  DTS_ASSIGN(Asked asked, make_spec(options.job, command));
  for (const std::string& note : asked.notes) tell("{}\n", note);
  const Diagnostics of_values = spec::validate(asked.spec);
  asked.problems.insert(asked.problems.end(), of_values.begin(), of_values.end());
  if (!asked.problems.empty()) {
    spec::locate(asked.settings, asked.problems);
    return tl::unexpected<Error>(to_error(asked.problems));
  }
  fmt::print("{}",
             options.json
                 ? spec::to_config_json(asked.settings)
                 : spec::to_toml(asked.settings,
                                 options.origin ? spec::Origins::shown : spec::Origins::omitted));
  return 0;
}

}  // namespace

void add_config(CLI::App& app, Invocation& invocation) {
  const auto options = std::make_shared<ConfigOptions>();
  CLI::App* verb =
      app.add_subcommand("config", "show the options of a job, and where each value comes from");
  verb->footer("Takes a job file and the options of `submit` and `run`; submits nothing.");
  options->job.shows_rare = invocation.all_options;
  verb->add_flag("--origin", options->origin, "file and line, variable or option of each value");
  verb->add_flag("--json", options->json, "one JSON document, schema dtsubmit/config/1");
  verb->add_flag("--schema", options->schema, "the JSON schema of job files");
  add_job_file(*verb, options->job);
  for (const spec::Group group :
       {spec::Group::job, spec::Group::hosts, spec::Group::slurm, spec::Group::check})
    add_options(*verb, group, options->job, invocation);
  verb->callback([options, &invocation] {
    invocation.action = [options, &invocation] { return act(*options, invocation.command); };
  });
}

}  // namespace dts::cli
