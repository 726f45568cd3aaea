// SPDX-License-Identifier: Apache-2.0
// dtsubmit plan: predicts what will become of a job, before it is submitted.
#include "cli/output/plan.hpp"

#include "cli/commands/check_program.hpp"
#include "cli/commands/command.hpp"
#include "cli/commands/dry_run.hpp"
#include "cli/commands/foresee.hpp"
#include "cli/commands/node_report.hpp"
#include "cli/commands/planned_options.hpp"
#include "cli/commands/simulate_options.hpp"
#include "cli/output/terminal.hpp"
#include "core/base/files/files.hpp"
#include "core/base/text/text.hpp"
#include "core/plan/binding/binding.hpp"
#include "core/plan/binding/node_share.hpp"
#include "core/plan/layout/cpus.hpp"
#include "core/spec/parts.hpp"
#include "core/topo/discover.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <ctime>
#include <memory>

namespace dts::cli {
namespace {

constexpr int k_never = 1;  // given the current state of the site
constexpr std::size_t k_most_plan_rows = 32;
constexpr const char* k_this_machine = "here";

struct PlanOptions {
  JobOptions job;
  std::vector<std::string> what_if, assume;
  std::string topology, svg;
  bool json = false;
};

// A row of the --what-if table: an option, and a value for it instead of the job's own.
struct Variant {
  std::string name, value;
};

// The option with this name, if it takes a single value.
const spec::Option* variable_option(const std::string& name) {
  const spec::Option* row = spec::option_named("--" + name);
  const bool good = row != nullptr && *row->value.type != '\0' && !row->value.repeats &&
                    (row->group == spec::Group::job || row->group == spec::Group::slurm);
  return good ? row : nullptr;
}

std::string help_on_names(const std::string& name) {
  std::vector<std::string> known;
  for (const spec::Option& row : spec::options())
    if (const std::string own = row.long_name().substr(2); variable_option(own) != nullptr)
      known.push_back(own);
  if (const auto similar = nearest(name, known))
    return fmt::format("a similar option exists: {}", *similar);
  return "an option of `dtsubmit submit --help-all` that takes one value, e.g. nodes or time";
}

// "nodes=4,8,16"
std::vector<Variant> read_variants(const std::vector<std::string>& texts, Diagnostics& problems) {
  constexpr const char* k_option = "--what-if";
  std::vector<Variant> variants;
  for (const std::string& text : texts) {
    const std::size_t equals = text.find('=');
    std::string name = text.substr(0, equals);
    if (name.starts_with("--")) name.erase(0, 2);
    if (equals == std::string::npos || equals + 1 == text.size()) {
      problems.push_back({k_option,
                          fmt::format("`{}` is not OPTION=VALUE,..", text),
                          "e.g. nodes=4,8,16 or time=1h,4h"});
    } else if (variable_option(name) == nullptr) {
      problems.push_back({k_option,
                          fmt::format("`{}` is not an option of a job with one value", name),
                          help_on_names(name)});
    } else {
      for (std::string& value : split(text.substr(equals + 1), ','))
        variants.push_back({name, std::move(value)});
    }
  }
  if (variants.size() > k_most_plan_rows)
    problems.push_back({k_option, fmt::format("at most {} values in all", k_most_plan_rows), ""});
  return variants;
}

void check_assumptions(const std::vector<std::string>& assume, Diagnostics& problems) {
  reliability::Model model;
  for (const std::string& text : assume)
    set_by_names("--assume", text, Settable::policy_and_failures, model, problems);
  if (!problems.empty()) return;
  // Validates a model of a single node for a moment, so that only assumptions can be at fault.
  model.nodes = 1;
  model.wall = Seconds(1);
  for (const Diagnostic& problem : reliability::validate(model, 1)) problems.push_back(problem);
}

std::vector<PlannedPart> parts_of(const Prepared& prepared) {
  if (prepared.parts.empty()) return {{"the job", prepared.plan}};
  std::vector<PlannedPart> parts;
  for (std::size_t i = 0; i < prepared.parts.size(); ++i)
    parts.push_back(
        {spec::words_of(prepared.spec, spec::parts_of(prepared.spec).at(i)), prepared.parts[i]});
  return parts;
}

// The most cores for each rank of a part: the number that the job requests, unless it gets whole
// nodes. 0: an equal share of the node.
unsigned most_cores(const RunForecast& foreseen,
                    const spec::JobSpec& job,
                    const plan::Plan& part,
                    unsigned cpus_per_core) {
  const bool asks = job.cpus_per_task || (job.cpus_per_gpu && part.gpus_per_node > 0);
  if (!asks || foreseen.outlook.whole_nodes) return part.cores_per_rank;
  // Parts that take turns on the job's nodes have the cores that the widest of them requests.
  const bool is_narrow = job.heterogeneous || part.shared;
  const plan::Plan& room = is_narrow ? part : foreseen.prepared.plan;
  const unsigned cpus =
      std::max(1U, room.ntasks_per_node * room.cpus_per_task / std::max(1U, part.ntasks_per_node));
  const unsigned cores = plan::whole_cores(cpus, job, cpus_per_core);
  return part.cores_per_rank == 0 ? cores : std::min(cores, part.cores_per_rank);
}

// A node with the topology of --topology, and the ranks of one part of the job. `machine` is its
// name for users.
Result<TopoReport> node_of(std::string machine,
                           const topo::NodeTopology& node,
                           const RunForecast& foreseen,
                           const spec::JobSpec& job,
                           const plan::Plan& plan,
                           unsigned cpus_per_core) {
  plan::BindRequest request = plan::request_of(plan.bind);
  request.ranks = plan.ntasks_per_node;
  request.smt = plan.smt;
  request.cores_per_rank = most_cores(foreseen, job, plan, cpus_per_core);
  request.gpus = gpus_of_type(node, job.gpu_type);
  const unsigned gpus = plan::gpus_of_node(plan);
  if (gpus > request.gpus.size())
    return fail(
        Errc::invalid,
        fmt::format("--topology: {} GPUs{} requested, {} has {}",
                    gpus,
                    request.gpus.size() < node.gpus.size() ? " of type " + job.gpu_type : "",
                    machine,
                    request.gpus.size()),
        "name the description of a node that the job can run on");
  request.gpus.resize(gpus);
  if (!plan.shared) return report_node(std::move(machine), plan.bind.text, node, request);
  DTS_ASSIGN(const topo::NodeTopology share, plan::share_of_node(node, *plan.shared, request.gpus));
  const auto [first, end] = plan::gpus_of_role(*plan.shared, plan.shared->own);
  request.gpus = {request.gpus.begin() + static_cast<std::ptrdiff_t>(first),
                  request.gpus.begin() + static_cast<std::ptrdiff_t>(end)};
  return report_node(std::move(machine), plan.bind.text, share, request);
}

// One report per part; none without a topology.
Result<std::vector<TopoReport>> nodes_of(const PlanOptions& options,
                                         const std::optional<topo::NodeTopology>& node,
                                         const RunForecast& foreseen,
                                         const std::vector<PlannedPart>& parts,
                                         const plan::ClusterView& cluster) {
  std::vector<TopoReport> nodes;
  if (!node) return nodes;
  const std::string machine =
      options.topology == k_this_machine ? "this machine" : topo::name_of(options.topology);
  const spec::JobSpec& job = foreseen.prepared.spec;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    DTS_ASSIGN(TopoReport report,
               node_of(parts.size() == 1 ? machine : fmt::format("{}, {}", machine, parts[i].name),
                       *node,
                       foreseen,
                       spec::is_composed(job) ? spec::parts_of(job).at(i).job : job,
                       parts[i].plan,
                       plan::cpus_per_core(cluster, *node)));
    nodes.push_back(std::move(report));
  }
  return nodes;
}

Result<std::optional<topo::NodeTopology>> read_node(const std::string& from) {
  if (from.empty()) return std::optional<topo::NodeTopology>();
  DTS_ASSIGN(topo::NodeTopology node,
             from == k_this_machine ? topo::discover() : topo::read_topology(from));
  return std::optional(std::move(node));
}

WhatIf row_of(const PlanOptions& options,
              const std::vector<std::string>& command,
              const KnownSite& site,
              const Variant& variant) {
  JobOptions job = options.job;
  job.typed["--" + variant.name] = variant.value;
  job.save.clear();
  auto foreseen = foresee(job, command, site, options.assume);
  if (!foreseen) return {variant.name, variant.value, std::nullopt, foreseen.error().message};
  return {variant.name, variant.value, std::move(foreseen->outlook), ""};
}

PlanReport report_of(const RunForecast& foreseen, const KnownSite& site) {
  const Prepared& prepared = foreseen.prepared;
  PlanReport report;
  report.now = std::time(nullptr);
  if (site.scheduler != nullptr) {
    report.way = sched::to_text(site.scheduler->access());
    report.phrases = site.scheduler->phrases();
  }
  if (prepared.sweep) report.elements = prepared.sweep->elements.size();
  report.plan = prepared.plan;
  report.parts = parts_of(prepared);
  report.sums = sums_of(prepared);
  report.options = options_of(prepared.plan, foreseen.settings);
  report.outlook = foreseen.outlook;
  return report;
}

Result<int> act(const PlanOptions& options, const std::vector<std::string>& command) {
  Diagnostics problems;
  const std::vector<Variant> variants = read_variants(options.what_if, problems);
  check_assumptions(options.assume, problems);
  if (!options.svg.empty() && options.topology.empty())
    problems.push_back({"--svg", "there is no topology to draw", "name one with --topology"});
  if (!problems.empty()) return tl::unexpected<Error>(to_error(problems, Errc::usage));
  DTS_ASSIGN(const auto node, read_node(options.topology));
  const KnownSite site = query_site();
  DTS_ASSIGN(const RunForecast foreseen, foresee(options.job, command, site, options.assume));
  warn_of_program(foreseen.prepared.spec);
  PlanReport report = report_of(foreseen, site);
  DTS_ASSIGN(report.nodes, nodes_of(options, node, foreseen, report.parts, site.cluster));
  for (const Variant& variant : variants)
    report.what_if.push_back(row_of(options, command, site, variant));
  if (!options.svg.empty()) DTS_TRY(write_file(options.svg, to_svg(report.nodes), 0644));
  const TextOptions look{wants_colour(STDOUT_FILENO), has_utf8()};
  const std::string text =
      options.json ? to_json(report) : to_text(report, terminal_columns(), look);
  std::fputs(text.c_str(), stdout);
  return report.outlook.start.answer == forecast::Start::Answer::never ? k_never : 0;
}

}  // namespace

void add_plan(CLI::App& app, Invocation& invocation) {
  const auto options = std::make_shared<PlanOptions>();
  CLI::App* verb =
      app.add_subcommand("plan", "predict the layout, start, cost and goodput of a job");
  verb->footer(
      "Takes a job file, the options of `dtsubmit submit`, and a program after `--`. Submits "
      "nothing.\n"
      "Exit codes: 0 success, also without a scheduler, 1 the job can never start, 2 usage, 3 "
      "invalid job.");
  verb->add_option("--what-if", options->what_if, "the same with other values: nodes=4,8,16")
      ->type_name("OPTION=V,..")
      ->type_size(1)
      ->allow_extra_args(false);
  verb->add_option("--assume",
                   options->assume,
                   "failures and saves: failure-rate=6.5,save-time=60s (dtsubmit-simulate(1))")
      ->type_name("NAME=V,..")
      ->type_size(1)
      ->allow_extra_args(false);
  verb->add_option("--topology",
                   options->topology,
                   "a node, from `lstopo --of xml FILE`; -: standard input; here: this machine")
      ->type_name("FILE");
  verb->add_option("--svg",
                   options->svg,
                   "write a picture of that node with the ranks of each part to this file")
      ->type_name("FILE");
  verb->add_flag("--json", options->json, "one JSON document, schema dtsubmit/forecast/1");
  options->job.is_listed = false;  // `dtsubmit submit --help` lists them
  add_job_file(*verb, options->job);
  add_options(*verb, spec::Group::job, options->job, invocation);
  add_options(*verb, spec::Group::slurm, options->job, invocation);
  verb->callback([options, &invocation] {
    invocation.action = [options, &invocation] { return act(*options, invocation.command); };
  });
}

}  // namespace dts::cli
