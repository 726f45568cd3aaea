// SPDX-License-Identifier: Apache-2.0
// dtsubmit check: measures nodes and links, compares them, and names those at fault.
#include "cli/output/check.hpp"

#include "cli/commands/check_baseline.hpp"
#include "cli/commands/check_job.hpp"
#include "cli/commands/command.hpp"
#include "cli/output/terminal.hpp"
#include "core/base/exit_codes.hpp"
#include "core/base/files/files.hpp"
#include "core/base/files/trusted_file.hpp"
#include "core/base/os/environment.hpp"
#include "core/base/os/log.hpp"
#include "core/base/text/counted.hpp"
#include "core/base/text/text.hpp"
#include "core/check/best_of.hpp"
#include "core/plugin/scheduler.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <memory>

namespace dts::cli {
namespace {

constexpr const char* k_no_cluster = "local";  // machines without a scheduler
constexpr unsigned k_most_repeats = 2;
constexpr const char* k_no_baseline = "none";

struct CheckOptions {
  JobOptions job;
  bool here = false, quick = false, once = false;
  bool json = false;
  bool quarantine = false, save_baseline = false;
  std::string from, html, baseline, cluster;
};

Result<check::Limits> limits_of(const JobOptions& options) {
  DTS_ASSIGN(const Asked asked, make_spec(options, {}));
  if (!asked.problems.empty()) return tl::unexpected<Error>(to_error(asked.problems));
  check::Limits limits;
  Diagnostics problems;
  for (const std::string& text : asked.spec.tolerances)
    if (const auto set = check::set_limit(text, limits); !set)
      problems.push_back({"--tolerance", set.error().message, set.error().hint});
  if (!problems.empty()) return tl::unexpected<Error>(to_error(problems, Errc::usage));
  return limits;
}

// The cluster whose baseline and quarantine are used.
std::string cluster_of(const CheckOptions& options, Place place) {
  if (!options.cluster.empty()) return options.cluster;
  if (const auto named = getenv_lookup("SLURM_CLUSTER_NAME"); named && !named->empty())
    return *named;
  if (place != Place::submitted) return k_no_cluster;
  const auto scheduler = plugin::load_scheduler();
  const auto config = scheduler
                          ? (*scheduler)->config()
                          : Result<sched::ConfigInfo>(tl::unexpected<Error>(scheduler.error()));
  return config && !config->cluster_name.empty() ? config->cluster_name : k_no_cluster;
}

struct Found {
  std::string document;
  std::string run;
  Place place = Place::here;
  int exit_code = 0;  // the job's
  Measuring measuring{};
};

Result<Found> facts_of(const CheckOptions& options, const std::vector<std::string>& bench) {
  if (!options.from.empty()) {
    auto text = read_regular_file(options.from, check::k_largest_facts);
    if (!text) return tl::unexpected<Error>(std::move(text).error());
    return Found{*std::move(text), ""};
  }
  DTS_ASSIGN(const Measuring measuring,
             plan_measuring(options.job, options.here, options.quick, bench, getenv_lookup));
  DTS_ASSIGN(MeasuredJob job, measure(measuring));
  return Found{
      std::move(job.facts).value_or(""), job.run, measuring.place, job.exit_code, measuring};
}

// The same measurement, on the same nodes.
Measuring again(Measuring measuring, const check::Facts& facts) {
  std::vector<std::string> nodes;
  for (const check::Node& node : facts.nodes) nodes.push_back(node.name);
  const bool are_names = std::all_of(nodes.begin(), nodes.end(), is_safe_name);
  if (measuring.place == Place::submitted && are_names)
    measuring.words.push_back("--nodelist=" + join(nodes, ","));
  return measuring;
}

// A burst of load from a neighbour can make a healthy node slow, so what looks unfit is measured
// again. Health checks have no time for that.
bool is_measured_again(const CheckOptions& options) {
  return options.from.empty() && !options.once && !(options.here && options.quick);
}

// Returns nothing if the job failed, which it has reported; then the first measurement counts.
Result<std::optional<check::Facts>> measure_again(const Found& found, CheckReport& report) {
  tell("not fit at first; measuring again:\n");
  for (const std::string& fault : check::faults(report.facts, report.verdict))
    tell("  {}\n", fault);
  DTS_ASSIGN(const MeasuredJob job, measure(again(found.measuring, report.facts)));
  if (!job.facts) return std::nullopt;
  DTS_ASSIGN(check::Facts second, check::parse_facts(*job.facts));
  report.facts = check::best_of(std::move(report.facts), second);
  report.again = *job.facts;
  return second;
}

// Without a baseline, a check only compares nodes with their peers. The home folder may be missing.
Result<std::optional<check::Facts>> baseline_of(const CheckOptions& options,
                                                const std::string& cluster) {
  if (options.baseline == k_no_baseline || options.save_baseline) return std::nullopt;
  if (!options.baseline.empty()) {
    DTS_ASSIGN(auto named, read_baseline(options.baseline));
    if (!named) return fail(Errc::not_found, options.baseline + " does not exist");
    return named;
  }
  const auto path = baseline_path(cluster);
  if (!path) return std::nullopt;
  return read_baseline(*path);
}

Result<void> keep(const CheckOptions& options, const CheckReport& report) {
  if (!options.html.empty()) DTS_TRY(write_file(options.html, to_html(report), 0644));
  if (options.save_baseline && !report.verdict.fit)
    tell("not saved as the baseline: not everything is fit\n");
  if (options.save_baseline && report.verdict.fit) {
    DTS_ASSIGN(const std::string path,
               options.baseline.empty() ? baseline_path(report.cluster)
                                        : Result<std::string>(options.baseline));
    DTS_TRY(save_baseline(path, report.document));
    tell("the baseline of {} is saved in {}\n", report.cluster, path);
  }
  if (!options.quarantine) return {};
  DTS_ASSIGN(const std::size_t nodes, quarantine(report.verdict, report.cluster, report.run));
  if (nodes > 0)
    tell("{} of {} in quarantine: see `dtsubmit nodes`\n", counted(nodes, "node"), report.cluster);
  return {};
}

void print(const CheckOptions& options, const CheckReport& report) {
  if (options.json)
    fmt::print("{}", to_json(report));
  else if (options.here && options.quick)
    fmt::print("{}", to_line(report));
  else
    fmt::print("{}", to_text(report, {terminal_columns(), wants_colour(STDOUT_FILENO)}));
}

// The report on the measurements, before they are judged.
Result<CheckReport> report_of(const CheckOptions& options, const Found& found) {
  auto facts = check::parse_facts(found.document);
  if (!facts)
    return tl::unexpected<Error>(
        std::move(facts).error().during(!options.from.empty() ? options.from
                                        : found.run.empty()   ? std::string("the measurements")
                                                              : found.run + "/check.json"));
  CheckReport report;
  report.facts = *std::move(facts);
  report.document = found.document;
  report.run = found.run;
  report.cluster = cluster_of(options, found.place);
  return report;
}

// Judges the facts, and measures what looks unfit again.
Result<void> judge(const CheckOptions& options,
                   const check::Limits& limits,
                   const Found& found,
                   CheckReport& report) {
  DTS_ASSIGN(const auto baseline, baseline_of(options, report.cluster));
  if (baseline) report.baseline = baseline->began;
  const check::Facts* const then = baseline ? &*baseline : nullptr;
  std::vector<check::Facts> later;
  for (unsigned round = 0;; ++round) {
    report.verdict = check::judge(report.facts, limits, then);
    for (const check::Facts& once : later)
      check::forgive(report.verdict, report.facts, once, check::judge(once, limits, then));
    if (report.verdict.fit || round == k_most_repeats || !is_measured_again(options)) return {};
    DTS_ASSIGN(auto more, measure_again(found, report));
    if (more) later.push_back(*std::move(more));
  }
}

Result<int> act(const CheckOptions& options, const std::vector<std::string>& bench) {
  if (options.baseline == k_no_baseline && options.save_baseline)
    return fail(Errc::usage, "--save-baseline needs a file, not `none`");
  DTS_ASSIGN(const check::Limits limits, limits_of(options.job));  // before anything is measured
  DTS_ASSIGN(Found found, facts_of(options, bench));
  if (found.document.empty() && found.exit_code != 0) return found.exit_code;
  DTS_ASSIGN(CheckReport report, report_of(options, found));
  DTS_TRY(judge(options, limits, found, report));
  if (found.exit_code != 0) {
    report.verdict.fit = false;
    report.verdict.cluster.push_back(
        fmt::format("the measurements ended early, with code {}: a rank failed or did not answer",
                    found.exit_code));
  }
  print(options, report);
  DTS_TRY(keep(options, report));
  return report.verdict.fit ? 0 : k_unfit;
}

void add_own_options(CLI::App& verb, CheckOptions& options) {
  const char* group = "Check";
  verb.add_flag("--here", options.here, "this machine alone, without a launcher")->group(group);
  verb.add_flag("--quick", options.quick, "less of everything; with --here one line, within 5 s")
      ->group(group);
  verb.add_flag("--once", options.once, "do not measure again what looks unfit")->group(group);
  verb.add_option("--from", options.from, "judge this check.json of an earlier check")
      ->group(group)
      ->type_name("FILE");
  verb.add_option(
          "--baseline", options.baseline, "compare with this one, or `none` [the cluster's]")
      ->group(group)
      ->type_name("FILE");
  verb.add_flag("--save-baseline", options.save_baseline, "later checks compare with this one")
      ->group(group);
  verb.add_flag("--quarantine", options.quarantine, "later jobs avoid unfit nodes: dtsubmit nodes")
      ->group(group);
  verb.add_option("--cluster", options.cluster, "cluster of the baseline and quarantine [detected]")
      ->group(group)
      ->type_name("NAME");
  verb.add_option("--html", options.html, "also write a page with pictures")
      ->group(group)
      ->type_name("FILE");
  verb.add_flag("--json", options.json, "one JSON document, schema dtsubmit/check/1")->group(group);
}

}  // namespace

void add_check(CLI::App& app, Invocation& invocation) {
  const auto options = std::make_shared<CheckOptions>();
  CLI::App* verb =
      app.add_subcommand("check", "measure nodes and links, and name those that are slow or wrong");
  verb->footer(
      "Where it runs: in a short job, with --nodes or any other option of `submit`; through ssh, "
      "with --hosts; on the nodes of the allocation, inside one; otherwise on this machine. "
      "Options after `--` are those of `dttrain bench`.\n"
      "Exit codes: 0 fit, 1 unfit, others as in dtsubmit(1).");
  options->job.is_listed = false;
  for (const spec::Group part :
       {spec::Group::check, spec::Group::job, spec::Group::hosts, spec::Group::slurm})
    add_options(*verb, part, options->job, invocation);
  add_own_options(*verb, *options);
  verb->callback([options, &invocation] {
    invocation.action = [options, &invocation] { return act(*options, invocation.command); };
  });
}

}  // namespace dts::cli
