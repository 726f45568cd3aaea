// SPDX-License-Identifier: Apache-2.0
// dtsubmit render: the batch script of a job from its template, or any template with values from a
// file.
#include "cli/commands/command.hpp"
#include "cli/commands/counts.hpp"
#include "cli/commands/job_options.hpp"
#include "cli/commands/prepare.hpp"
#include "cli/commands/source.hpp"
#include "cli/commands/templates.hpp"
#include "core/base/files/trusted_file.hpp"
#include "core/script/template/shell_output.hpp"
#include "core/spec/file/document.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <memory>

namespace dts::cli {
namespace {

struct RenderOptions {
  JobOptions job;
  std::string data;
  std::string escape = "shell";
  bool list = false;
};

int print_list() {
  for (const auto& [name, place] : all_templates()) fmt::print("{:<12} {}\n", name, place);
  return 0;
}

Result<nlohmann::json> read_data(const std::string& file) {
  DTS_ASSIGN(const std::string text, read_regular_file(file, spec::k_most_bytes));
  Diagnostics problems;
  const auto document = spec::parse_json(text, file, problems);
  if (!document || !problems.empty()) return tl::unexpected<Error>(to_error(problems));
  return document->value();
}

Result<int> print_rendered(const std::string& file, const RenderOptions& options) {
  if (!is_template_file(file))
    return fail(
        Errc::invalid, "--data is for a template in a file", "name it with --template FILE");
  DTS_ASSIGN(const nlohmann::json data, read_data(options.data));
  const script::Partials templates = templates_on_disk(file);
  DTS_ASSIGN(const auto main, templates(file));
  std::unique_ptr<script::TemplateOutput> output = std::make_unique<script::ShellOutput>();
  if (options.escape == "html") output = std::make_unique<script::HtmlOutput>();
  DTS_TRY(script::render_template(*main, data, templates, script::Unknown::is_empty, *output));
  fmt::print("{}", output->text());
  return 0;
}

Result<int> act(const RenderOptions& options, const std::vector<std::string>& command) {
  if (options.list) return print_list();
  DTS_ASSIGN(Asked asked, make_spec(options.job, command));
  if (!options.data.empty()) return print_rendered(asked.spec.script_template, options);
  Source source = asked.spec.snapshot ? begin_reading_source().get() : Source{};
  DTS_ASSIGN(const Prepared prepared,
             prepare(std::move(asked), std::move(source), {}, Destination::scheduler));
  fmt::print("{}", prepared.script);
  return 0;
}

}  // namespace

void add_render(CLI::App& app, Invocation& invocation) {
  const auto options = std::make_shared<RenderOptions>();
  CLI::App* verb =
      app.add_subcommand("render", "print the batch script of a job, from its template");
  verb->footer(
      "Takes a job file and the options of `submit`; submits nothing. See TEMPLATES in "
      "dtsubmit-render(1).");
  options->job.shows_rare = invocation.all_options;
  verb->add_flag("--list", options->list, "all templates, and where each comes from");
  verb->add_option("--data", options->data, "fill the template in with the values of a JSON file")
      ->type_name("FILE");
  CLI::Option* escape = verb->add_option(
      "--escape", options->escape, "with --data: what values are quoted for: shell, html [shell]");
  accept_words(*escape->type_name("WHAT"), {"shell", "html"});
  add_job_file(*verb, options->job);
  for (const spec::Group group : {spec::Group::job, spec::Group::slurm})
    add_options(*verb, group, options->job, invocation);
  verb->callback([options, &invocation] {
    invocation.action = [options, &invocation] { return act(*options, invocation.command); };
  });
}

}  // namespace dts::cli
