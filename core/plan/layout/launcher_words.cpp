// SPDX-License-Identifier: Apache-2.0
#include "core/plan/layout/launcher_words.hpp"

#include "core/base/text/text.hpp"

#include <algorithm>

namespace dts::plan {
namespace {

using What = ToldOption::What;

std::string first_name(const ToldOption& option) {
  return std::string(option.names.substr(0, option.names.find(' ')));
}

std::string number_of_workers(const Plan& plan, What what) {
  const std::uint64_t nodes = what == What::all_workers ? plan.nodes : 1;
  return std::to_string(nodes * plan.workers_per_task);
}

std::string value_for(What what,
                      const Plan& plan,
                      const Placement& placement,
                      const Rendezvous& rendezvous) {
  switch (what) {
    case What::nodes:
      return std::to_string(plan.nodes);
    case What::node_rank:
      return std::to_string(placement.node_rank);
    case What::address:
      return rendezvous.master_addr;
    case What::port:
      return std::to_string(rendezvous.master_port);
    case What::workers:
    case What::all_workers:
      return number_of_workers(plan, what);
    case What::yes:
      return "True";
  }
  return {};
}

std::string variable_for(What what, const Plan& plan) {
  switch (what) {
    case What::nodes:
      return std::to_string(plan.nodes);
    case What::node_rank:
      return "$NODE_RANK";
    case What::address:
      return "$MASTER_ADDR";
    case What::port:
      return "$MASTER_PORT";
    case What::workers:
    case What::all_workers:
      return number_of_workers(plan, what);
    case What::yes:
      return "True";
  }
  return {};
}

}  // namespace

std::vector<ToldOption> options_to_tell(const Plan& plan, const OwnLauncher& launcher) {
  std::vector<ToldOption> needed;
  if (plan.workers_per_task == 0) return needed;
  const bool several = std::uint64_t{plan.nodes} * plan.workers_per_task > 1;
  for (const ToldOption& option : launcher.told)
    if ((option.nodes_only ? plan.nodes > 1 : several) && !option_of(launcher, option.names))
      needed.push_back(option);
  return needed;
}

std::string options_to_write(const Plan& plan, const OwnLauncher& launcher) {
  std::vector<std::string> words;
  for (const ToldOption& option : options_to_tell(plan, launcher))
    words.push_back(first_name(option) + "=" + variable_for(option.what, plan));
  return join(words, " ");
}

std::vector<std::string> command_of_rank(const Plan& plan,
                                         const OwnLauncher& launcher,
                                         const Placement& placement,
                                         const Rendezvous& rendezvous) {
  std::vector<std::string> words;
  for (const ToldOption& option : options_to_tell(plan, launcher))
    words.push_back(first_name(option) + "=" + value_for(option.what, plan, placement, rendezvous));
  if (words.empty() || !launcher.place) return {};
  std::vector<std::string> command = plan.command;
  const auto at = command.begin() + static_cast<std::ptrdiff_t>(launcher.place->argument);
  if (!launcher.place->offset) {
    command.insert(at, words.begin(), words.end());
    return command;
  }
  std::string inserted;
  for (const std::string& word : words) inserted += " " + shell_quote(word);
  at->insert(*launcher.place->offset, inserted);
  return command;
}

}  // namespace dts::plan
