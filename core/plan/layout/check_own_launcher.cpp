// SPDX-License-Identifier: Apache-2.0
#include "core/plan/layout/check_own_launcher.hpp"

#include "core/base/text/counted.hpp"
#include "core/base/text/text.hpp"
#include "core/plan/layout/launcher_words.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace dts::plan {
namespace {

using Kind = OwnLauncher::Kind;

std::string shown(const OwnLauncher& launcher) {
  if (launcher.wrapper.empty()) return launcher.name;
  return fmt::format("{} (behind `{}`)", launcher.name, launcher.wrapper);
}

// True for --machine_rank 1 and the like: the option gives the launcher the rank of its node.
bool knows_its_node(const OwnLauncher& launcher) {
  return option_of(launcher, "--machine-rank --node-rank").has_value();
}

bool gets_its_place(const OwnLauncher& launcher) {
  return launcher.kind == Kind::torchrun || !launcher.place_options.empty();
}

Diagnostic started_for_each_rank(const Plan& plan, const OwnLauncher& launcher) {
  const std::uint64_t all = std::uint64_t{plan.ntasks_per_node} * plan.workers_per_task;
  const std::string count(launcher.count.substr(0, launcher.count.find(' ')));
  // Its count would be refused as well.
  if (plan.hosts.empty() && option_of(launcher, launcher.single))
    return {"--ntasks-per-node",
            fmt::format("{} with {} starts one process on each node, not {}",
                        shown(launcher),
                        launcher.single,
                        plan.ntasks_per_node),
            fmt::format("start the ranks without it: --ntasks-per-node {} -- python3 ...; or add "
                        "--per-rank, which starts one for each rank",
                        plan.ntasks_per_node)};
  return {plan.hosts.empty() ? "--ntasks-per-node" : "--hosts",
          fmt::format(
              "{} starts the processes of a node itself: {} of them on each node would start {}",
              shown(launcher),
              plan.ntasks_per_node,
              all),
          plan.hosts.empty()
              ? fmt::format("omit --ntasks-per-node: one is started on each node{}; --per-rank "
                            "starts one for each rank nevertheless",
                            count.empty() ? "" : ", with as many processes as " + count + " says")
              : "name each host once, without a number of ranks"};
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

// ":29500": the submitting shell has found nothing in `$MASTER_ADDR:29500`. In single quotes,
// nobody replaces it.
bool is_nowhere(std::string_view place, bool is_in_shell) {
  const std::string_view host = place.substr(0, place.rfind(':'));
  return host.empty() || host == "localhost" || host == "127.0.0.1" || is_no_address(host) ||
         (!is_in_shell && host.find('$') != host.npos);
}

void check_place(const OwnLauncher& launcher, Diagnostics& problems) {
  const bool is_in_shell = !launcher.place || launcher.place->offset;
  for (const char* name : {"--rdzv-endpoint", "--master-addr"})
    if (const auto place = option_of(launcher, name); place && is_nowhere(*place, is_in_shell))
      problems.push_back({"command",
                          fmt::format("{} with {} {} would not find the other nodes",
                                      shown(launcher),
                                      name,
                                      place->empty() ? "''" : *place),
                          "omit it: torchrun learns of the rendezvous from the job"});
}

// torchrun that is configured for one node but runs on several: each instance would train alone and
// save the same files.
void check_rendezvous(const Plan& plan, const OwnLauncher& launcher, Diagnostics& problems) {
  if (plan.nodes < 2 || launcher.kind != Kind::torchrun) return;
  const auto nodes = option_of(launcher, "--nnodes");
  const bool is_standalone = option_of(launcher, "--standalone").has_value();
  if (is_standalone || nodes == "1")
    problems.push_back(
        {"command",
         fmt::format("{} with {} would train on each of {} nodes without knowing about the others",
                     shown(launcher),
                     is_standalone ? "--standalone" : "--nnodes 1",
                     plan.nodes),
         "omit it: torchrun gets the nodes from the job; --per-node starts one on each node "
         "nevertheless"});
  if (!is_standalone) check_place(launcher, problems);
  if (!launcher.hidden_behind.empty() && !nodes)
    problems.push_back(
        {"command",
         fmt::format("{}: the container has no variables of the job, which name the {} nodes",
                     shown(launcher),
                     plan.nodes),
         "use --container IMAGE in place of " + launcher.hidden_behind +
             ", or give --nnodes and the rendezvous yourself"});
}

// Reports a rank of the node that is the same on all nodes, "--node_rank 0" or, of a variable that
// the submitting shell does not have, "--node_rank=". The rendezvous c10d ignores it.
void check_node_rank(const Plan& plan, const OwnLauncher& launcher, Diagnostics& problems) {
  if (plan.nodes < 2 || option_of(launcher, "--rdzv-backend").value_or("static") != "static")
    return;
  for (const char* name : {"--node-rank", "--machine-rank"})
    if (const auto rank = option_of(launcher, name); rank && (rank->empty() || parse_number(*rank)))
      problems.push_back({"command",
                          fmt::format("{} with {} {} would take each of {} nodes for the same one",
                                      shown(launcher),
                                      name,
                                      rank->empty() ? "''" : *rank,
                                      plan.nodes),
                          gets_its_place(launcher) ? "omit it: each node gets its own from the job"
                                                   : std::string(launcher.instead)});
}

// Whether a job of `nodes` nodes meets "2" or "MIN:MAX"; true if it is neither.
bool is_met(std::string_view range, unsigned nodes) {
  const std::size_t colon = range.find(':');
  const auto fewest = parse_number(range.substr(0, colon));
  const auto most = colon == range.npos ? fewest : parse_number(range.substr(colon + 1));
  return !fewest || (*fewest <= nodes && nodes <= most.value_or(nodes));
}

// Reports a number of nodes that cannot be met: the launcher would wait for nodes that never come,
// or some nodes for the others' end. That of one node alone is reported by check_rendezvous().
void check_nodes(const Plan& plan, const OwnLauncher& launcher, Diagnostics& problems) {
  for (const char* name : {"--nnodes", "--num-machines", "--num-nodes"}) {
    const auto nodes = option_of(launcher, name);
    if (!nodes || !gets_its_place(launcher) || is_met(*nodes, plan.nodes)) continue;
    if (launcher.kind == Kind::torchrun && nodes == "1") continue;
    problems.push_back({"command",
                        fmt::format("{} with {} {} does not fit a job of {}",
                                    shown(launcher),
                                    name,
                                    *nodes,
                                    counted(plan.nodes, "node")),
                        "omit it: the number is that of --nodes; --per-node starts the launcher as "
                        "it is, for example to meet another role or job"});
  }
}

// Reports a launcher on each node that has no way to learn of the others.
void check_place_options(const Plan& plan, const OwnLauncher& launcher, Diagnostics& problems) {
  if (plan.nodes > 1 && launcher.kind == Kind::node && launcher.place_options.empty() &&
      !knows_its_node(launcher))
    problems.push_back(
        {"command",
         fmt::format("{} would be started on each of {} nodes without knowing about the others",
                     shown(launcher),
                     plan.nodes),
         std::string(launcher.instead) + "; --per-node starts one on each node nevertheless"});
  const std::string options = options_to_write(plan, launcher);
  if (!launcher.place && !options.empty())
    problems.push_back({"command",
                        fmt::format("{} is in a shell command within another, where its options "
                                    "for this job cannot be inserted",
                                    shown(launcher)),
                        "write them: " + options});
}

Diagnostic started_by_each_rank(const OwnLauncher& launcher, std::uint64_t ranks) {
  return {"command",
          fmt::format("{} starts the processes itself, and the job would start {} of it, one for "
                      "each rank",
                      shown(launcher),
                      ranks),
          "name the program that it starts: each rank gets RANK, WORLD_SIZE, LOCAL_RANK and "
          "MASTER_ADDR from dtsubmit; --per-node starts the launcher once on each node "
          "nevertheless, --per-rank for each rank"};
}

// torchrun in a script that runs once on each of several nodes. Only with --per-node does it get
// the nodes and the rendezvous from its variables, and only those of the static backend.
void check_torchrun_in_script(const Plan& plan,
                              const OwnLauncher& launcher,
                              bool may_know_place,
                              Diagnostics& problems) {
  constexpr const char* k_learns = ": torchrun learns of them from the job";
  const bool has_variables = plan.workers_per_task > 0;
  const bool needs_option = !has_variables && !may_know_place;
  const bool is_alone = option_of(launcher, "--standalone").has_value() ||
                        option_of(launcher, "--nnodes").value_or(needs_option ? "1" : "") == "1";
  const std::string add = has_variables ? "" : " and add --per-node";
  if (is_alone && !has_variables)
    problems.push_back(
        {"command",
         fmt::format("{} would train on each of {} nodes without knowing about the others",
                     shown(launcher),
                     plan.nodes),
         "omit its options for nodes and rendezvous" + add + k_learns});
  if (is_alone) return;
  const auto backend = option_of(launcher, "--rdzv-backend");
  check_place(launcher, problems);
  if (problems.empty() && !may_know_place && backend.value_or("static") != "static" &&
      !option_of(launcher, "--rdzv-endpoint"))
    problems.push_back({"command",
                        fmt::format("{} with --rdzv-backend {} and without --rdzv-endpoint would "
                                    "not find the other nodes",
                                    shown(launcher),
                                    *backend),
                        ""});
  for (Diagnostic& problem : problems)
    problem.hint = fmt::format("omit {}{}: torchrun learns of the rendezvous from the job",
                               backend ? "--rdzv-backend and --rdzv-endpoint" : "it",
                               add);
  const std::size_t told = problems.size();
  check_node_rank(plan, launcher, problems);
  check_nodes(plan, launcher, problems);
  for (std::size_t i = told; i < problems.size(); ++i)
    problems[i].hint = "omit its options for nodes and rendezvous" + add + k_learns;
}

// Another launcher in such a script, which takes its place from options.
void check_place_in_script(const Plan& plan, const OwnLauncher& launcher, Diagnostics& problems) {
  Plan as_visible = plan;
  as_visible.workers_per_task = std::max({1U, plan.workers_per_task, plan.gpus_per_node});
  const bool is_lost = launcher.place_options.empty() && !knows_its_node(launcher) &&
                       !option_of(launcher, "--address");  // ray start
  if (!is_lost && !lacks_its_place(as_visible, launcher)) return;
  problems.push_back(
      {"command",
       fmt::format("{} would be started on each of {} nodes without knowing about the others",
                   shown(launcher),
                   plan.nodes),
       is_lost ? std::string(launcher.instead)
               : fmt::format("write: {}{}",
                             options_to_write(as_visible, launcher),
                             plan.workers_per_task > 0 ? "" : ", and add --per-node")});
}

}  // namespace

Diagnostics problems_in_script(const Plan& plan, const OwnLauncher& launcher, bool may_know_place) {
  Diagnostics problems;
  const std::uint64_t ranks = std::uint64_t{plan.nodes} * plan.ntasks_per_node;
  if (launcher.kind == Kind::other && ranks > 1)
    problems.push_back(started_by_each_rank(launcher, ranks));
  if (!starts_processes_of_node(launcher)) return problems;
  if (plan.ntasks_per_node > 1) {
    if (option_of(launcher, launcher.count) != "1")
      problems.push_back({"command",
                          fmt::format("{} starts the processes of a node itself, and each of the "
                                      "{} ranks on a node would start it",
                                      shown(launcher),
                                      plan.ntasks_per_node),
                          "--per-node runs the script once on each node"});
  } else if (plan.nodes > 1 && launcher.kind == Kind::torchrun) {
    check_torchrun_in_script(plan, launcher, may_know_place, problems);
  } else if (plan.nodes > 1 && !may_know_place) {
    check_place_in_script(plan, launcher, problems);
  }
  return problems;
}

void check_own_launcher(const Plan& plan, const OwnLauncher& launcher, Diagnostics& problems) {
  if (launcher.kind == Kind::submission)
    problems.push_back(
        {"command",
         fmt::format("{} submits a job of its own, and each rank of this one would run it",
                     shown(launcher)),
         std::string(launcher.instead) + "; --per-rank runs it in each rank nevertheless"});
  if (launcher.kind == Kind::stored)
    problems.push_back(
        {"command",
         fmt::format("{} looks for the function of a job by that job's number, and would not find "
                     "it in this one",
                     shown(launcher)),
         std::string(launcher.instead)});
  if (starts_processes_of_node(launcher)) {
    if (plan.ntasks_per_node > 1)
      problems.push_back(started_for_each_rank(plan, launcher));
    else {
      check_rendezvous(plan, launcher, problems);
      check_node_rank(plan, launcher, problems);
      check_nodes(plan, launcher, problems);
      check_place_options(plan, launcher, problems);
    }
  }
  const std::uint64_t ranks = std::uint64_t{plan.nodes} * plan.ntasks_per_node;
  if (launcher.kind == Kind::other && ranks > 1)
    problems.push_back(started_by_each_rank(launcher, ranks));
}

}  // namespace dts::plan
