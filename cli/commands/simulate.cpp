// SPDX-License-Identifier: Apache-2.0
// dtsubmit simulate: a month of a cluster's failures in seconds, and how a policy copes with it.
#include "cli/commands/command.hpp"
#include "cli/commands/counts.hpp"
#include "cli/commands/simulate_options.hpp"
#include "cli/output/simulation.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <limits>
#include <memory>

namespace dts::cli {
namespace {

constexpr std::size_t k_most_policies = 8;  // in addition to the one given by the options

struct SimulateOptions {
  Typed model;
  // As typed, for read_count().
  std::string gpus_per_node = "8", seed = "1", repetitions = "20";
  std::vector<std::string> compare;
  bool json = false;
};

// What to simulate; the first policy is the one given by the options. Errc::usage reports every
// problem at once.
Result<Simulation> read(const SimulateOptions& options) {
  Diagnostics problems;
  Simulation simulation;
  simulation.gpus_per_node = static_cast<unsigned>(
      read_count("--gpus-per-node", options.gpus_per_node, 1, 1024, problems));
  constexpr auto k_any = std::numeric_limits<std::uint64_t>::max();
  simulation.seed = read_count("--seed", options.seed, 0, k_any, problems);
  simulation.repetitions = static_cast<unsigned>(
      read_count("--repeat", options.repetitions, 1, reliability::k_most_repetitions, problems));
  auto& policies = simulation.policies;
  policies.push_back({"as given", {}, {}});
  set_model(options.model, policies.front().model, problems);
  if (options.compare.size() > k_most_policies)
    problems.push_back({"--compare", fmt::format("at most {} of them", k_most_policies)});
  for (const std::string& text : options.compare) {
    policies.push_back({text, policies.front().model, {}});
    set_by_names("--compare", text, Settable::policy, policies.back().model, problems);
  }
  if (!problems.empty()) return tl::unexpected<Error>(to_error(problems, Errc::usage));
  return simulation;
}

Result<int> act(const SimulateOptions& options) {
  DTS_ASSIGN(Simulation simulation, read(options));
  for (SimulatedPolicy& policy : simulation.policies) {
    DTS_ASSIGN(policy.estimate,
               reliability::simulate(policy.model, simulation.seed, simulation.repetitions));
  }
  fmt::print("{}", options.json ? to_json(simulation) : to_text(simulation));
  return 0;
}

}  // namespace

void add_simulate(CLI::App& app, Invocation& invocation) {
  const auto options = std::make_shared<SimulateOptions>();
  CLI::App* verb = app.add_subcommand(
      "simulate", "simulate a month of failures in a second: the goodput of a policy");
  add_model_options(*verb, options->model);
  const char* group = "Simulation (TIME: seconds, or with s, m, h or d)";
  verb->add_option("--compare", options->compare, "another policy: spares=4,detect=10; repeatable")
      ->group(group)
      ->type_name("NAME=V,..")
      ->type_size(1)
      ->allow_extra_args(false);
  verb->add_option("--repeat", options->repetitions, "runs to average over [20]")
      ->group(group)
      ->type_name("R");
  verb->add_option("--seed", options->seed, "seed of the random numbers [1]")
      ->group(group)
      ->type_name("S");
  verb->add_option(
          "--gpus-per-node", options->gpus_per_node, "GPUs per node, only for the first line [8]")
      ->group(group)
      ->type_name("N");
  verb->add_flag("--json", options->json, "one JSON document, schema dtsubmit/simulate/1")
      ->group(group);
  verb->callback(
      [options, &invocation] { invocation.action = [options] { return act(*options); }; });
}

}  // namespace dts::cli
