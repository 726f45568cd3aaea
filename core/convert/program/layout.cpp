// SPDX-License-Identifier: Apache-2.0
#include "core/convert/program/layout.hpp"

#include "core/base/text/text.hpp"
#include "core/convert/job/asked_sizes.hpp"
#include "core/convert/job/gpu_bind.hpp"
#include "core/convert/program/plugin_options.hpp"
#include "core/spec/size.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace dts::convert {
namespace {

constexpr const char* k_first_of_nodes =
    "without srun or mpirun the program runs on the first of {} nodes only: ask for one node, or "
    "start it with srun";

constexpr const char* k_spread =
    "its {} ranks are on {} of {} nodes, where Slurm would use all: choose a multiple of {}";

class Layout : AskedSizes {
 public:
  Layout(Program& program, Draft& draft)
      : AskedSizes(program.settings, program.dropped, draft), program_(program), draft_(draft) {}

  void processes_of_node(bool is_recognised, bool is_beside_others) {
    const std::uint64_t tasks = tasks_on_node();
    if (is_launched() && !has("nodes") && number("ntasks").value_or(0) > 1) {
      const std::uint64_t nodes = *number("ntasks") / tasks;
      if (nodes > 1) set("nodes", nodes);
    }
    settle_world(is_beside_others);
    if (const auto gpus = number("gpus-per-task")) {
      drop("gpus-per-task", "the launcher has all GPUs of its node");
      if (!has("gpus-per-node")) set("gpus-per-node", *gpus * tasks);
    }
    widen_cores(tasks);
    for (const char* name : {"ntasks", "ntasks-per-node", "ntasks-per-gpu"})
      drop(name, "the launcher is started once on each node");
    if (!is_recognised) program_.settings["per-node"] = {{}, k_no_row};
  }

  // Slurm gives a task one core unless it is told otherwise; dtsubmit its share of the node.
  void one_core_each() {
    if (has("cpus-per-task") || has("cpus-per-gpu") || has("exclusive")) return;
    set("cpus-per-task", 1);
    has_default_cores_ = true;
  }

  // The number once all else is settled.
  void note_default_cores() {
    const auto cores = number("cpus-per-task");
    if (!has_default_cores_ || !cores) return;
    program_.notes.push_back(
        fmt::format("cpus_per_task = {}: {} without --cpus-per-task",
                    *cores,
                    *cores == 1 ? "Slurm's default" : "one for each task, Slurm's default"));
  }

  void ranks() {
    if (is_own("ntasks-per-node") && !is_own("ntasks"))
      drop("ntasks", "the program's launcher sets --ntasks-per-node");
    if (is_own("ntasks") && !is_own("ntasks-per-node")) {
      const auto per_node = number("ntasks-per-node");
      const std::uint64_t ranks = number("ntasks").value_or(0);
      const bool fits = per_node.value_or(0) > 0 &&
                        (has("nodes") ? *per_node * number("nodes").value_or(1) == ranks
                                      : ranks % *per_node == 0);
      if (per_node && !fits)
        drop("ntasks-per-node", "the program's launcher sets the number of ranks");
    }
    share_cores();
    if (number("ntasks").value_or(1) > 1 && !has("nodes") && !has("ntasks-per-node"))
      program_.notes.emplace_back(
          "all ranks are on one node; Slurm may use several where --nodes is not set");
    spread();
    const bool is_open =
        std::any_of(program_.blanks.begin(), program_.blanks.end(), [](const Blank& one) {
          return one.option.starts_with("ntasks");
        });
    const bool is_given =
        is_open || has("ntasks") || has("ntasks-per-node") || has("ntasks-per-gpu");
    if (!is_given) set("ntasks-per-node", 1);
  }

  // There may be more ranks than GPUs: Slurm shows all GPUs of the node to each of them.
  void share_gpus(const lint::Job& job) {
    const std::uint64_t gpus = gpus_on_node(job);
    const std::uint64_t ranks = ranks_on_node();
    if (gpus == 0 || ranks <= gpus || ranks % gpus != 0 || has("gpus-per-task") ||
        has("ntasks-per-gpu"))
      return;
    set("ntasks-per-gpu", ranks / gpus);
    program_.notes.push_back(
        fmt::format("{} ranks share each GPU and see no other; Slurm shows all {} to every rank",
                    ranks / gpus,
                    gpus));
  }

  // Slurm shows all GPUs of a node to each of its ranks, unless they are bound to the ranks.
  void show_gpus(const lint::Job& job) {
    const std::uint64_t ranks = ranks_on_node();
    const std::uint64_t gpus = number("gpus-per-task") ? ranks : gpus_on_node(job);
    if (is_own("gpu-view") || ranks < 2 || gpus < ranks) return;
    const bool are_bound = has("ntasks-per-gpu") || has("gpus-per-task");
    const auto bind = draft_.settings.find("gpu-bind");
    const char* view = are_bound ? "rank" : "node";
    if (bind != draft_.settings.end()) view = view_of_binding(bind->second.texts.front());
    program_.settings["gpu-view"] = {{is_mpirun() ? "node" : view}, k_no_row};
  }

  // Beside programs of all nodes.
  void first_node() {
    program_.settings["nodes"] = {{"1"}, k_no_row};
    program_.settings["ntasks-per-node"] = {{"1"}, k_no_row};
    if (has("ntasks")) program_.settings["ntasks"] = {{"1"}, k_no_row};
    program_.notes.emplace_back("without srun or mpirun: run once, on the first node");
  }

  void one_process() {
    const bool is_lost = program_.words.empty() && program_.text.empty();
    if (number("nodes").value_or(1) > 1 && !is_lost)
      program_.losses.push_back(fmt::format(k_first_of_nodes, *number("nodes")));
    const std::uint64_t tasks = number("ntasks-per-node").value_or(number("ntasks").value_or(1));
    widen_cores(tasks);
    for (const char* name : {"ntasks", "ntasks-per-gpu"})
      drop(name, "the script starts one process");
    if (number("ntasks-per-node").value_or(1) != 1)
      drop("ntasks-per-node", "the script starts one process");
    if (const auto gpus = number("gpus-per-task"); gpus && !has("gpus-per-node")) {
      drop("gpus-per-task", "the process has all GPUs of the job");
      set("gpus-per-node", *gpus * tasks);
    }
    if (!has("ntasks-per-node")) set("ntasks-per-node", 1);
  }

 private:
  [[nodiscard]] std::uint64_t nodes() const {
    return std::max<std::uint64_t>(number("nodes").value_or(1), 1);
  }

  [[nodiscard]] std::uint64_t gpus_on_node(const lint::Job& job) const {
    return number("gpus-per-node")
        .value_or(job.gpus_per_node.value_or(number("gpus").value_or(0) / nodes()));
  }

  [[nodiscard]] std::uint64_t ranks_on_node() const {
    return number("ntasks-per-node").value_or(number("ntasks").value_or(0) / nodes());
  }

  [[nodiscard]] bool is_launched() const { return is_own("launcher"); }

  [[nodiscard]] bool is_mpirun() const {
    const auto launcher = program_.settings.find("launcher");
    return launcher != program_.settings.end() && launcher->second.texts.front() == "mpirun";
  }

  // The processes of torchrun and the like spread over as many nodes as its options say. Without a
  // launcher, the script starts it on the first node only.
  void settle_world(bool is_beside_others) {
    const std::uint64_t nodes = number("nodes").value_or(1);
    const bool is_one = program_.reach == Reach::one || program_.reach == Reach::one_by_default;
    if (nodes < 2) return;
    if (is_launched() && program_.reach == Reach::one)
      program_.losses.push_back(fmt::format(
          "each of {} nodes works by itself in the script; in the job they work together", nodes));
    else if (is_launched() && is_one)
      program_.notes.emplace_back(
          "without --nnodes each node works by itself in the script; in the job they work "
          "together");
    else if (!is_launched() && is_one && is_beside_others)
      program_.settings["nodes"] = {{"1"}, k_no_row};
    else if (!is_launched() && is_one)
      program_.losses.push_back(fmt::format(k_first_of_nodes, nodes));
    else if (!is_launched())
      program_.notes.emplace_back(
          "without srun: the script starts it on the first node only, the job on each node");
  }

  void spread() {
    const std::uint64_t nodes = number("nodes").value_or(1);
    const std::uint64_t ranks = number("ntasks").value_or(1);
    if (!has("ntasks") || nodes < 2 || has("ntasks-per-node")) return;
    const std::uint64_t used = spec::nodes_that_share(ranks, nodes);
    if (!is_own("ntasks") || is_own("nodes") || used == std::min(ranks, nodes) || is_mpirun())
      return program_.notes.push_back(
          "every node gets the same number of ranks; Slurm may fill the first nodes instead");
    const auto each = number_in(draft_.settings, "ntasks-per-node").value_or(1);
    const auto tasks = number_in(draft_.settings, "ntasks").value_or(nodes * each);
    (ranks * nodes <= used * tasks || has("exclusive") ? program_.notes : program_.losses)
        .push_back(fmt::format(k_spread, ranks, used, nodes, nodes));
  }

  // As many as the script's launcher would start; without a launcher all are on one node.
  [[nodiscard]] std::uint64_t tasks_on_node() const {
    if (const auto tasks = number("ntasks-per-node")) return std::max<std::uint64_t>(*tasks, 1);
    const auto all = number("ntasks");
    if (!all || (is_launched() && !has("nodes"))) return 1;
    return std::max<std::uint64_t>(*all / std::max<std::uint64_t>(number("nodes").value_or(1), 1),
                                   1);
  }

  // mpirun -np 4 in a job of one task: its ranks share the task's cores.
  void share_cores() {
    if (!is_mpirun() || !is_own("ntasks")) return;
    const std::uint64_t ranks = number("ntasks").value_or(0);
    const std::uint64_t cores = of_job("cpus-per-task").value_or(1);
    const std::uint64_t nodes = of_job("nodes").value_or(1);
    const auto tasks = of_job("ntasks").value_or(of_job("ntasks-per-node").value_or(1) * nodes);
    if (cores < 2 || ranks <= tasks) return;
    set("cpus-per-task", std::max<std::uint64_t>(cores * tasks / ranks, 1));
    program_.notes.push_back(
        fmt::format("{} ranks share the {} cores of the job", ranks, cores * tasks));
  }

  // The cores of all tasks of a node are those of the only process on it.
  void widen_cores(std::uint64_t tasks) {
    const auto cores = number("cpus-per-task");
    if (tasks < 2 || has("cpus-per-gpu")) return;
    set("cpus-per-task", cores.value_or(1) * tasks);
  }

  Program& program_;
  Draft& draft_;
  bool has_default_cores_ = false;
};

}  // namespace

void settle_layout(Program& program,
                   Draft& draft,
                   const lint::Job& job,
                   bool starts_processes,
                   bool is_recognised,
                   bool is_beside_others) {
  settle_plugin_options(program, draft);
  Layout layout(program, draft);
  layout.one_core_each();
  if (starts_processes)
    layout.processes_of_node(is_recognised, is_beside_others);
  else if (program.settings.count("launcher") > 0 || program.hides_launcher) {
    layout.ranks();
    layout.share_gpus(job);
    if (!program.hides_launcher) layout.show_gpus(job);
  } else if (is_beside_others && job.nodes.value_or(1) > 1)
    layout.first_node();
  else
    layout.one_process();
  layout.note_default_cores();
}

namespace {

// Makes a setting that is the same in all programs one of the job.
void share(const std::string& name, std::vector<Program>& programs, Draft& draft) {
  if (programs.size() < 2 || draft.settings.count(name) > 0) return;
  const auto first = programs[0].settings.find(name);
  if (first == programs[0].settings.end()) return;
  const Asked asked = first->second;
  for (const Program& program : programs) {
    const auto own = program.settings.find(name);
    if (own == program.settings.end() || own->second.texts != asked.texts) return;
  }
  for (Program& program : programs) program.settings.erase(name);
  draft.settings[name] = asked;
}

}  // namespace

void settle_dropped(std::vector<Program>& programs, bool are_roles, Draft& draft) {
  if (!are_roles) share("gpus-per-node", programs, draft);
  std::map<std::string, std::string> dropped;
  for (const Program& program : programs)
    dropped.insert(program.dropped.begin(), program.dropped.end());
  for (const auto& [name, why] : dropped) {
    const auto asked = draft.settings.find(name);
    if (asked == draft.settings.end()) continue;
    bool is_used = false;
    for (Program& program : programs) {
      if (are_roles || program.dropped.count(name) > 0) continue;
      program.settings.insert({name, asked->second});
      is_used = true;
    }
    if (is_used)
      draft.settings.erase(asked);
    else
      draft.take_back(name, why);
  }
}

}  // namespace dts::convert
