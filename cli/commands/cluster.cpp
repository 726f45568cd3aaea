// SPDX-License-Identifier: Apache-2.0
// dtsubmit cluster up|down|status: a private, real Slurm on this machine.
#include "core/cluster/cluster.hpp"

#include "cli/commands/command.hpp"
#include "cli/commands/counts.hpp"
#include "cli/output/report.hpp"
#include "core/base/files/files.hpp"
#include "core/base/text/counted.hpp"
#include "core/base/text/json_text.hpp"
#include "core/base/text/text.hpp"
#include "core/base/text/units.hpp"
#include "core/cluster/companion.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <limits>
#include <memory>

namespace dts::cli {
namespace {

struct Options {
  cluster::ClusterSpec spec;
  bool all = false;
  bool json = false;
};

Result<std::string> folder_of(const cluster::ClusterSpec& spec) {
  if (!spec.folder.empty()) return absolute_path(spec.folder);
  DTS_TRY(
      cluster::validate(spec));  // a name such as `..` must not escape the folder of the clusters
  DTS_ASSIGN(const std::string parent, cluster::clusters_folder());
  return parent + "/" + spec.name;
}

void print_export(const std::string& conf) {
  fmt::print("export SLURM_CONF={}\n", shell_quote(conf));
}

// A shell that runs eval "$(dtsubmit cluster up ...)" does not see our exit code. The cluster that
// already runs in another shape stays selected, and `false` makes the eval fail.
void select_running(const cluster::ClusterSpec& spec) {
  const auto folder = folder_of(spec);
  const auto running = folder
                           ? cluster::status(*folder)
                           : Result<cluster::ClusterStatus>(tl::unexpected<Error>(folder.error()));
  if (!running || !running->running) return;
  print_export(running->conf);
  fmt::print("false\n");
}

Result<int> run_up(const Options& options) {
  const auto result = cluster::up(options.spec);
  if (!result) {
    select_running(options.spec);
    return tl::unexpected<Error>(result.error());
  }
  for (const std::string& warning : result->warnings) warn(warning);
  print_export(result->conf);
  return 0;
}

Error no_cluster(const cluster::ClusterSpec& spec) {
  const bool is_named = spec.folder.empty();
  const bool is_default = spec.name == cluster::ClusterSpec().name;
  const std::string named =
      is_named ? "--name " + spec.name : "--folder " + shell_quote(spec.folder);
  const auto others = cluster::cluster_names();
  return {Errc::not_found,
          "there is no cluster " + (is_named ? spec.name : "in " + spec.folder),
          others && !others->empty()
              ? "those that exist: " + join(*others, ", ") + " (--name NAME)"
              : "start it: dtsubmit cluster up" + (is_named && is_default ? "" : " " + named)};
}

Result<int> run_down(const Options& options) {
  if (!options.all) {
    DTS_ASSIGN(const std::string folder, folder_of(options.spec));
    const pid_t process = options.spec.with_process;
    if (process != 0 && !cluster::outlives_process(folder, process)) return 0;
    if (!exists(folder)) warn(no_cluster(options.spec).message + ", so nothing was ended");
    DTS_TRY(cluster::down(folder));
    return 0;
  }
  DTS_ASSIGN(const auto names, cluster::cluster_names());
  Result<int> result = 0;
  for (const std::string& name : names) {  // a failure must not leave the others running
    cluster::ClusterSpec spec;
    spec.name = name;
    DTS_ASSIGN(const std::string folder, folder_of(spec));
    if (auto ended = cluster::down(folder); !ended)
      result = tl::unexpected<Error>(std::move(ended).error());
  }
  return result;
}

void print_json(const cluster::ClusterStatus& status) {
  nlohmann::ordered_json nodes = nlohmann::ordered_json::array();
  for (const cluster::NodeStatus& node : status.nodes) {
    nlohmann::ordered_json entry = {{"name", node.name},
                                    {"state", node.state},
                                    {"address", node.address},
                                    {"port", node.port},
                                    {"jobs", node.jobs},
                                    {"uptime_s", nullptr}};
    if (node.uptime) entry["uptime_s"] = node.uptime->count();
    nodes.push_back(std::move(entry));
  }
  const nlohmann::ordered_json document = {
      {"schema", "dtsubmit/cluster/1"},
      {"name", status.name},
      {"running", status.running},
      {"folder", status.folder},
      {"slurm_conf", status.conf},
      {"proctrack", status.proctrack},
      {"auth", status.auth},
      {"accounting", status.accounting},
      {"host_names", status.host_names},
      {"controller", {{"address", status.controller_address}, {"port", status.controller_port}}},
      {"jobs", {{"running", status.jobs_running}, {"pending", status.jobs_pending}}},
      {"nodes", std::move(nodes)}};
  fmt::print("{}", json_text(document));
}

std::string uptime_text(const cluster::NodeStatus& node) {
  if (!node.uptime) return "-";
  const auto seconds = node.uptime->count();
  return fmt::format("{}:{:02}:{:02}", seconds / 3600, seconds / 60 % 60, seconds % 60);
}

void print_table(const cluster::ClusterStatus& status) {
  fmt::print("cluster {} {}, proctrack {}{}{}, {} running, {} pending\n",
             status.name,
             status.running ? "is up" : "is incomplete",
             status.proctrack,
             status.auth == "none" ? "" : ", auth " + status.auth,
             status.accounting ? ", accounting" : "",
             counted(status.jobs_running, "job"),
             status.jobs_pending);
  fmt::print("{:<10} {:<12} {:<16} {:>5} {:>10}\n", "NODE", "STATE", "ADDRESS", "JOBS", "UPTIME");
  for (const cluster::NodeStatus& node : status.nodes)
    fmt::print("{:<10} {:<12} {:<16} {:>5} {:>10}\n",
               node.name,
               node.state,
               node.address,
               node.jobs,
               uptime_text(node));
}

Result<int> run_status(const Options& options) {
  DTS_ASSIGN(const std::string folder, folder_of(options.spec));
  auto status = cluster::status(folder);
  if (!status && status.error().code == Errc::not_found && !exists(folder))
    return tl::unexpected<Error>(no_cluster(options.spec));
  if (!status) return tl::unexpected<Error>(std::move(status).error());
  options.json ? print_json(*status) : print_table(*status);
  return 0;
}

void add_place(CLI::App& verb, cluster::ClusterSpec& spec) {
  verb.add_option("--name", spec.name, fmt::format("name of the cluster [{}]", spec.name))
      ->type_name("NAME");
  verb.add_option("--folder", spec.folder, "its folder [~/.local/state/dtsubmit/clusters/NAME]")
      ->type_name("FOLDER");
}

void add_process(CLI::App& verb, cluster::ClusterSpec& spec, const std::string& help) {
  accept_whole(*verb.add_option("--with-process", spec.with_process, help)->type_name("PID"),
               1,
               std::numeric_limits<pid_t>::max());
}

void add_shape(CLI::App& verb, cluster::ClusterSpec& spec) {
  verb.add_option("--nodes", spec.nodes, fmt::format("number of nodes, 1 to 64 [{}]", spec.nodes))
      ->type_name("N");
  verb.add_option("--gpus-per-node",
                  spec.gpus_per_node,
                  fmt::format("simulated GPUs of each node [{}]", spec.gpus_per_node))
      ->type_name("N");
  verb.add_option("--gpu-type", spec.gpu_type, "type of the GPUs, e.g. a100")->type_name("TYPE");
  verb.add_option("--features", spec.features, "features of all nodes, e.g. a100,nvlink")
      ->type_name("LIST");
  verb.add_option("--cpus-per-node",
                  spec.cpus_per_node,
                  "CPUs that a node claims to have [one per GPU, at least 4]")
      ->type_name("N");
  verb.add_option("--sockets", spec.sockets, "sockets that share the CPUs of a node [1]")
      ->type_name("N");
  verb.add_option(
          "--threads-per-core", spec.threads_per_core, "CPUs that are threads of one core [1]")
      ->type_name("N");
  verb.add_option("--reserved-cores",
                  spec.reserved_cores,
                  "cores of each node that no job gets (CoreSpecCount) [0]")
      ->type_name("N");
}

// How it treats jobs.
void add_rules(CLI::App& verb, cluster::ClusterSpec& spec) {
  const auto set_grace = [&spec](const std::string& text) {
    const auto length = parse_length(text);
    if (!length) throw CLI::ValidationError("--grace", length.error().message);
    constexpr std::int64_t k_longest = std::numeric_limits<unsigned>::max();
    spec.grace = static_cast<unsigned>(std::min<std::int64_t>(length->count(), k_longest));
  };
  verb.add_option_function<std::string>(
          "--grace", set_grace, fmt::format("grace time of partition low [{}s]", spec.grace))
      ->type_name("LENGTH");
  const auto set_proctrack = [&spec](const std::string& kind) {
    spec.proctrack = cluster::proctrack_of(kind);
  };
  CLI::Option* proctrack = verb.add_option_function<std::string>(
      "--proctrack", set_proctrack, "linuxproc, pgid, or (as root) cgroup [linuxproc]");
  accept_words(*proctrack->type_name("KIND"), {"linuxproc", "pgid", "cgroup"});
  const auto set_auth = [&spec](const std::string& kind) { spec.auth = cluster::auth_of(kind); };
  CLI::Option* auth = verb.add_option_function<std::string>(
      "--auth", set_auth, "none, or munge, with its own munged [none]");
  accept_words(*auth->type_name("KIND"), {"none", "munge"});
  verb.add_flag("--accounting",
                spec.accounting,
                "start slurmdbd and MariaDB, too: accounts, QOS, limits, sacct");
  verb.add_flag("--constrain-cores",
                spec.constrain_cores,
                "confine jobs to the cores that Slurm gives them; needs --proctrack cgroup");
  verb.add_option("--conf", spec.extra, "a line of slurm.conf; repeatable")
      ->type_name("KEY=VALUE")
      ->type_size(1)
      ->allow_extra_args(false);
}

}  // namespace

void add_cluster(CLI::App& app, Invocation& invocation) {
  const auto options = std::make_shared<Options>();
  CLI::App* verb = app.add_subcommand("cluster", "run a private, real Slurm on this machine");
  verb->require_subcommand(1);
  CLI::App* up =
      verb->add_subcommand("up", "start the cluster; eval \"$(dtsubmit cluster up)\" selects it");
  add_place(*up, options->spec);
  add_shape(*up, options->spec);
  add_rules(*up, options->spec);
  add_process(*up, options->spec, "end the cluster when this process ends");
  up->callback(
      [options, &invocation] { invocation.action = [options] { return run_up(*options); }; });
  CLI::App* down =
      verb->add_subcommand("down", "end the cluster with all its jobs, and remove its folder");
  add_place(*down, options->spec);
  down->add_flag(
      "--all", options->all, "end all your clusters, except those started with --folder");
  add_process(*down, options->spec, "wait until this process ends; --all does not");
  down->callback(
      [options, &invocation] { invocation.action = [options] { return run_down(*options); }; });
  CLI::App* status = verb->add_subcommand("status", "show the nodes and jobs of the cluster");
  add_place(*status, options->spec);
  status->add_flag("--json", options->json, "one JSON document, schema dtsubmit/cluster/1");
  status->callback(
      [options, &invocation] { invocation.action = [options] { return run_status(*options); }; });
}

}  // namespace dts::cli
