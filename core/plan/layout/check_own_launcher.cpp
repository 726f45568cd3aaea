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

// Reports a launcher on each node that has no way to learn of the others, or starts the processes
// of the others as well.
void check_knows_others(const Plan& plan,
                        const OwnLauncher& launcher,
                        bool is_in_script,
                        Diagnostics& problems) {
  if (plan.nodes > 1 && launcher.kind == Kind::node && launcher.place_options.empty() &&
      !knows_its_node(launcher)) {
    const std::string hosts = option_for_hosts(launcher);
    problems.push_back(
        {"command",
         hosts.empty()
             ? fmt::format("{} would be started on each of {} nodes without knowing about the "
                           "others",
                           shown(launcher),
                           plan.nodes)
             : fmt::format("{} with {} starts the processes of all hosts, and each of {} nodes "
                           "would start it",
                           shown(launcher),
                           hosts,
                           plan.nodes),
         std::string(launcher.instead) +
             (is_in_script ? "" : "; --per-node starts one on each node nevertheless")});
  }
}

void check_place_options(const Plan& plan, const OwnLauncher& launcher, Diagnostics& problems) {
  check_knows_others(plan, launcher, false, problems);
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

// Reports a torchrun that is not told of the first node. By default it takes its own node for that.
void check_is_told(const Plan& plan, const OwnLauncher& launcher, Diagnostics& problems) {
  const std::string backend = option_of(launcher, "--rdzv-backend").value_or("static");
  const bool is_static = backend == "static";
  if (is_static && plan.workers_per_task > 0) return;
  const bool has_endpoint = option_of(launcher, "--rdzv-endpoint").has_value() ||
                            (is_static && option_of(launcher, "--master-addr"));
  const std::string lack = is_static
                               ? "without --master-addr"
                               : "with --rdzv-backend " + backend + " and without --rdzv-endpoint";
  if (!has_endpoint)
    problems.push_back({"command",
                        fmt::format("{} {} would not find the other nodes", shown(launcher), lack),
                        ""});
  else if (is_static && !knows_its_node(launcher))
    problems.push_back({"command",
                        fmt::format("{} without --node-rank would take each of {} nodes for the "
                                    "first one",
                                    shown(launcher),
                                    plan.nodes),
                        ""});
}

// torchrun in a script that runs once on each of several nodes. Only with --per-node does it get
// the nodes and the rendezvous from its variables, and only those of the static backend.
void check_torchrun_in_script(const Plan& plan,
                              const OwnLauncher& launcher,
                              bool may_know_place,
                              Diagnostics& problems) {
  const bool has_variables = plan.workers_per_task > 0;
  const bool needs_option = !has_variables && !may_know_place;
  const bool is_alone = option_of(launcher, "--standalone").has_value() ||
                        option_of(launcher, "--nnodes").value_or(needs_option ? "1" : "") == "1";
  if (is_alone && has_variables) return;
  if (is_alone) {
    problems.push_back(
        {"command",
         fmt::format("{} would train on each of {} nodes without knowing about the others",
                     shown(launcher),
                     plan.nodes),
         ""});
  } else {
    check_place(launcher, problems);
    if (problems.empty() && !may_know_place) check_is_told(plan, launcher, problems);
    check_node_rank(plan, launcher, problems);
    check_nodes(plan, launcher, problems);
  }
  for (Diagnostic& problem : problems) problem.hint = without_place_options(plan, launcher);
}

// Another launcher in such a script, which takes its place from options.
void check_place_in_script(const Plan& plan, const OwnLauncher& launcher, Diagnostics& problems) {
  Plan as_visible = plan;
  as_visible.workers_per_task = std::max({1U, plan.workers_per_task, plan.gpus_per_node});
  if (!option_of(launcher, "--address"))  // ray start
    check_knows_others(plan, launcher, true, problems);
  const bool is_lost = lacks_its_place(as_visible, launcher);
  if (!is_lost && !lacks_its_count(as_visible, launcher)) return;
  problems.push_back(
      {"command",
       is_lost ? fmt::format("{} would be started on each of {} nodes without knowing about the "
                             "others",
                             shown(launcher),
                             plan.nodes)
               : fmt::format("{} is not told how many processes to start on {} nodes",
                             shown(launcher),
                             plan.nodes),
       fmt::format("write: {}{}",
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
