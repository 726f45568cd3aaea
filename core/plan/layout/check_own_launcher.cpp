// SPDX-License-Identifier: Apache-2.0
#include "core/plan/layout/check_own_launcher.hpp"

#include "core/plan/layout/launcher_words.hpp"

#include <fmt/format.h>

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

Diagnostic started_for_each_rank(const Plan& plan, const OwnLauncher& launcher) {
  const std::uint64_t all = std::uint64_t{plan.ntasks_per_node} * plan.workers_per_task;
  const std::string count(launcher.count.substr(0, launcher.count.find(' ')));
  return {plan.hosts.empty() ? "--ntasks-per-node" : "--hosts",
          fmt::format("{} starts the processes of a node itself: {} of it would start {}",
                      shown(launcher),
                      plan.ntasks_per_node,
                      all),
          plan.hosts.empty()
              ? fmt::format("omit --ntasks-per-node: one is started on each node{}; --per-rank "
                            "starts one for each rank nevertheless",
                            count.empty() ? "" : ", with as many processes as " + count + " says")
              : "name each host once, without a number of ranks"};
}

// ":29500": the submitting shell has found nothing in `$MASTER_ADDR:29500`. In single quotes,
// nobody replaces it.
bool is_nowhere(std::string_view place, bool is_in_shell) {
  const std::string_view host = place.substr(0, place.rfind(':'));
  return host.empty() || host == "localhost" || host == "127.0.0.1" ||
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

}  // namespace

void check_own_launcher(const Plan& plan, const OwnLauncher& launcher, Diagnostics& problems) {
  if (launcher.kind == Kind::submission)
    problems.push_back(
        {"command",
         fmt::format("{} submits a job of its own, and each rank of this one would run it",
                     shown(launcher)),
         std::string(launcher.instead) + "; --per-rank runs it in each rank nevertheless"});
  if (launcher.kind == Kind::torchrun || launcher.kind == Kind::node) {
    if (plan.ntasks_per_node > 1)
      problems.push_back(started_for_each_rank(plan, launcher));
    else {
      check_rendezvous(plan, launcher, problems);
      check_place_options(plan, launcher, problems);
    }
  }
  const std::uint64_t ranks = std::uint64_t{plan.nodes} * plan.ntasks_per_node;
  if (launcher.kind == Kind::other && ranks > 1)
    problems.push_back(
        {"command",
         fmt::format("{} starts the processes itself, and the job would start {} of it, one for "
                     "each rank",
                     shown(launcher),
                     ranks),
         "name the program that it starts: each rank gets RANK, WORLD_SIZE, LOCAL_RANK and "
         "MASTER_ADDR from dtsubmit; --per-node starts the launcher once on each node "
         "nevertheless, "
         "--per-rank for each rank"});
}

}  // namespace dts::plan
