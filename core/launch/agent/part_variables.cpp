// SPDX-License-Identifier: Apache-2.0
#include "core/launch/agent/part_variables.hpp"

#include "core/base/net/ephemeral_ports.hpp"
#include "core/base/net/net.hpp"
#include "core/base/os/wait.hpp"
#include "core/base/text/text.hpp"
#include "core/plan/plan.hpp"
#include "core/spec/parts.hpp"

#include <chrono>

namespace dts::launch {
namespace {

constexpr unsigned k_candidates = 64;
constexpr std::chrono::seconds k_patience_with_facts{3};

}  // namespace

void choose_ports(const std::string& run, unsigned attempt, std::vector<PartPlace>& places) {
  const auto [low, high] = ephemeral_ports();
  std::vector<HeldPort> held;  // until all ports are chosen, so that they differ
  for (PartPlace& place : places) {
    held.push_back(hold_first_free_port(
        plan::master_port_candidates(run + "/" + place.name, attempt, low, high, k_candidates)));
    place.port = held.back().port;
  }
}

std::map<std::string, std::string> node_addresses(JobWatch& watch) {
  const auto until = std::chrono::steady_clock::now() + k_patience_with_facts;
  while (std::chrono::steady_clock::now() < until) {
    if (auto facts = watch.take_facts()) return std::move(facts->addresses);
    if (wait_readable(watch.event_fd(), until)) watch.drain_event();
  }
  return {};
}

Variables::value_type began_variable(const run::RunDirectory& run) {
  const auto began = run::began(run).value_or(std::chrono::system_clock::now());
  const auto seconds = std::chrono::floor<std::chrono::seconds>(began.time_since_epoch());
  return {"DTSUBMIT_RUN_BEGAN", std::to_string(seconds.count())};
}

Variables part_variables(const run::RunDirectory& run,
                         bool are_roles,
                         const std::vector<PartPlace>& places,
                         const std::map<std::string, std::string>& addresses) {
  Variables variables{began_variable(run), {"DTSUBMIT_JOB_DIR", run.path}};
  const std::string kind = are_roles ? "DTSUBMIT_ROLE_" : "DTSUBMIT_STEP_";
  for (const PartPlace& place : places) {
    const std::string prefix = kind + spec::variable_name(place.name);
    variables.emplace_back(prefix + "_DIR", place.folder);
    if (!are_roles || place.nodes.empty()) continue;
    const auto address = addresses.find(place.nodes.front());
    variables.emplace_back(prefix + "_NODES", join(place.nodes, ","));
    variables.emplace_back(prefix + "_ADDR",
                           address != addresses.end() ? address->second : place.nodes.front());
    if (place.port != 0) variables.emplace_back(prefix + "_PORT", std::to_string(place.port));
  }
  return variables;
}

}  // namespace dts::launch
