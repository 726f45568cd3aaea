// SPDX-License-Identifier: Apache-2.0
#include "core/plan/layout/launcher_words.hpp"

#include "core/base/text/text.hpp"

#include <algorithm>

namespace dts::plan {
namespace {

using Fact = PlaceOption::Fact;

std::string first_name(const PlaceOption& option) {
  return std::string(option.names.substr(0, option.names.find(' ')));
}

std::string number_of_workers(const Plan& plan, Fact what) {
  const std::uint64_t nodes = what == Fact::all_workers ? plan.nodes : 1;
  return std::to_string(nodes * plan.workers_per_task);
}

// "123.456.123.456", the placeholder in many instructions.
bool is_no_address(std::string_view host) {
  bool is_beyond = false;
  const auto parts = split(host, '.');
  const bool is_numeric = std::all_of(parts.begin(), parts.end(), [&](const std::string& part) {
    const auto number = parse_number(part);
    is_beyond = is_beyond || number.value_or(0) > 255;
    return number.has_value();
  });
  return parts.size() == 4 && is_numeric && is_beyond;
}

// How a node's place in the job is written.
struct NodePlace {
  std::string rank, address, port;
};

std::string value_for(Fact what, const Plan& plan, const NodePlace& place) {
  switch (what) {
    case Fact::nodes:
      return std::to_string(plan.nodes);
    case Fact::node_rank:
      return place.rank;
    case Fact::address:
      return place.address;
    case Fact::port:
      return place.port;
    case Fact::workers:
    case Fact::all_workers:
      return number_of_workers(plan, what);
    case Fact::yes:
      return "True";
  }
  return {};
}

// "--num_machines=2"
std::vector<std::string> words_for(const Plan& plan,
                                   const OwnLauncher& launcher,
                                   const NodePlace& place) {
  std::vector<std::string> words;
  for (const PlaceOption& option : place_options_for(plan, launcher))
    words.push_back(first_name(option) + "=" + value_for(option.what, plan, place));
  return words;
}

}  // namespace

std::vector<PlaceOption> place_options_for(const Plan& plan, const OwnLauncher& launcher) {
  std::vector<PlaceOption> needed;
  if (plan.workers_per_task == 0) return needed;
  const bool several = std::uint64_t{plan.nodes} * plan.workers_per_task > 1;
  for (const PlaceOption& option : launcher.place_options)
    if ((option.nodes_only ? plan.nodes > 1 : several) && !option_of(launcher, option.names))
      needed.push_back(option);
  return needed;
}

bool lacks_its_place(const Plan& plan, const OwnLauncher& launcher) {
  const auto missing = place_options_for(plan, launcher);
  return std::any_of(missing.begin(), missing.end(), [](const PlaceOption& option) {
    return option.what == Fact::nodes || option.what == Fact::node_rank ||
           option.what == Fact::address;
  });
}

bool knows_its_node(const OwnLauncher& launcher) {
  return option_of(launcher, "--machine-rank --node-rank").has_value();
}

bool is_nowhere(std::string_view place, bool is_in_shell) {
  const std::string_view host = place.substr(0, place.rfind(':'));
  return host.empty() || host == "localhost" || host == "127.0.0.1" || is_no_address(host) ||
         (!is_in_shell && host.find('$') != host.npos);
}

bool is_met(std::string_view range, unsigned nodes) {
  const std::size_t colon = range.find(':');
  const auto fewest = parse_number(range.substr(0, colon));
  const auto most = colon == range.npos ? fewest : parse_number(range.substr(colon + 1));
  return !fewest || (*fewest <= nodes && nodes <= most.value_or(nodes));
}

std::string option_for_hosts(const OwnLauncher& launcher) {
  for (const char* name : {"--hostfile", "--hosts", "--host", "-hostfile", "-H"})
    if (option_of(launcher, name)) return name;
  return {};
}

bool lacks_its_count(const Plan& plan, const OwnLauncher& launcher) {
  const auto missing = place_options_for(plan, launcher);
  return std::any_of(missing.begin(), missing.end(), [](const PlaceOption& option) {
    return option.what == Fact::workers || option.what == Fact::all_workers;
  });
}

std::string options_to_write(const Plan& plan, const OwnLauncher& launcher) {
  return join(words_for(plan, launcher, {"$NODE_RANK", "$MASTER_ADDR", "$MASTER_PORT"}), " ");
}

std::string without_place_options(const Plan& plan, const OwnLauncher& launcher) {
  std::vector<std::string> given;
  for (const char* name : {"--standalone",
                           "--nnodes",
                           "--node-rank",
                           "--rdzv-backend",
                           "--rdzv-endpoint",
                           "--master-addr"})
    if (option_of(launcher, name)) given.emplace_back(name);
  std::vector<std::string> steps;
  if (!given.empty()) steps.push_back("omit " + join(given, ", "));
  if (plan.workers_per_task == 0) steps.emplace_back("add --per-node");
  return join(steps, " and ") + ": torchrun learns of the nodes from the job";
}

bool fits_launchers(const std::vector<std::string>& command) {
  constexpr std::size_t k_longest = std::size_t{32} << 10;  // Hydra's half: the rest is for ours
  std::size_t size = 0;
  for (const std::string& word : command) size += word.size() + 1;
  return size <= k_longest;
}

std::vector<std::string> command_of_rank(const Plan& plan,
                                         const OwnLauncher& launcher,
                                         const Placement& placement,
                                         const Rendezvous& rendezvous) {
  const std::vector<std::string> words = words_for(plan,
                                                   launcher,
                                                   {std::to_string(placement.node_rank),
                                                    rendezvous.master_addr,
                                                    std::to_string(rendezvous.master_port)});
  if (words.empty() || !launcher.place)
    return fits_launchers(plan.command) ? std::vector<std::string>() : plan.command;
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
