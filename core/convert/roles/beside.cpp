// SPDX-License-Identifier: Apache-2.0
#include "core/convert/roles/beside.hpp"

#include "core/base/text/text.hpp"
#include "core/base/text/units.hpp"
#include "core/convert/roles/beside_lines.hpp"
#include "core/convert/roles/sizes.hpp"
#include "core/convert/roles/waiting.hpp"
#include "core/plan/program/job_name.hpp"
#include "core/spec/parts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace dts::convert {
namespace {

struct Amounts {
  std::uint64_t cpus = 0;
  std::uint64_t gpus = 0;
  std::uint64_t memory = 0;  // MiB

  [[nodiscard]] bool hold(const Amounts& other) const {
    return cpus >= other.cpus && gpus >= other.gpus && memory >= other.memory;
  }
};

constexpr std::uint64_t k_whole = std::uint64_t{1} << 32;
constexpr std::uint64_t k_most = std::uint64_t{1} << 20;  // of one thing that a step asks for

class AmountReader {
 public:
  AmountReader(const lint::Job& job, const Resolver& resolver) : job_(job), resolver_(resolver) {}

  // What a node of the job has; nullopt: not known.
  [[nodiscard]] std::optional<Amounts> of_node() const {
    const auto gpus = gpus_of_node();
    const auto cpus = cpus_of_node();
    if (!gpus || !cpus) return std::nullopt;
    return Amounts{*cpus, *gpus, memory_of_node(*cpus)};
  }

  // What a step of one node needs; nullopt: it is none, or does not say.
  [[nodiscard]] std::optional<Amounts> of_step(const Item& item) const {
    if (item.mains.size() != 1) return std::nullopt;
    const lint::Launch& launch = item.mains[0]->launch;
    const bool is_step = launch.launcher == lint::Launcher::srun && !launch.has_unknown_options;
    for (const char* name : {"nodelist", "overlap", "het-group", "relative"})
      if (!is_step || launch.option(name) != nullptr) return std::nullopt;
    const auto tasks = tasks_of(launch);
    const auto gpus = tasks ? gpus_of(launch, *tasks) : std::nullopt;
    if (!gpus) return std::nullopt;
    const std::uint64_t each =
        number(launch, "cpus-per-task").value_or(job_.cpus_per_task.value_or(1));
    if (each > k_most || *gpus > k_most) return std::nullopt;
    return Amounts{*tasks * each, *gpus, memory_of(launch, *tasks * each)};
  }

  // What a step of one task needs at least; it shares what it does not ask for.
  [[nodiscard]] Amounts least_of(const lint::Launch& launch) const {
    if (launch.launcher != lint::Launcher::srun || launch.option("overlap") != nullptr) return {};
    const std::uint64_t cpus =
        std::clamp(number(launch, "cpus-per-task").value_or(1), std::uint64_t{1}, k_most);
    return {cpus, 0, memory_of(launch, cpus)};
  }

  // A node has this at most.
  [[nodiscard]] Amounts most_of_node() const {
    const std::uint64_t cpus = cpus_of_node().value_or(k_whole);
    return {cpus, k_whole, memory_of_node(cpus)};
  }

 private:
  [[nodiscard]] std::optional<std::string> text(const lint::Launch& launch,
                                                const char* name) const {
    const lint::LaunchOption* option = launch.option(name);
    return option == nullptr ? std::nullopt
                             : resolver_.text(from_expanded({{option->value, true}, {}, false}));
  }

  [[nodiscard]] std::optional<std::uint64_t> number(const lint::Launch& launch,
                                                    const char* name) const {
    const lint::LaunchOption* option = launch.option(name);
    return option == nullptr ? std::nullopt : number_of(option->value, resolver_);
  }

  // 0: not said, or all that there is.
  [[nodiscard]] std::uint64_t mebibytes(const lint::Launch& launch, const char* name) const {
    const auto value = text(launch, name);
    const auto size = value ? std::optional(parse_memory_mib(*value)) : std::nullopt;
    return size && *size ? std::min(**size, k_whole) : 0;
  }

  // A whole node has as many as the script relies on.
  [[nodiscard]] std::optional<std::uint64_t> cpus_of_node() const {
    if (job_.is_exclusive) return k_whole;
    const auto tasks = job_.nodes ? job_.tasks_on_node() : job_.ntasks.value_or(1);
    const std::uint64_t each = job_.cpus_per_task.value_or(1);
    if (!tasks || *tasks > k_most || each > k_most) return std::nullopt;
    return *tasks * each;
  }

  [[nodiscard]] std::optional<std::uint64_t> gpus_of_node() const {
    if (job_.gpus_per_node || !job_.has_gpus) return job_.gpus_per_node.value_or(0);
    return job_.nodes ? std::nullopt : job_.gpus;
  }

  // k_whole: the job does not say.
  [[nodiscard]] std::uint64_t memory_of_node(std::uint64_t cpus) const {
    if (job_.mem_per_node) return *job_.mem_per_node;
    const bool is_known = job_.mem_per_cpu && *job_.mem_per_cpu <= k_whole && cpus < k_whole;
    return is_known ? *job_.mem_per_cpu * cpus : k_whole;
  }

  [[nodiscard]] std::uint64_t memory_of(const lint::Launch& launch, std::uint64_t cpus) const {
    if (memory_of_node(cpus) == k_whole) return 0;
    if (const std::uint64_t all = mebibytes(launch, "mem"); all > 0) return all;
    return std::min(mebibytes(launch, "mem-per-cpu"), k_most) * cpus;
  }

  // On one node of the job.
  [[nodiscard]] std::optional<std::uint64_t> tasks_of(const lint::Launch& launch) const {
    const bool has_nodes = launch.option("nodes") != nullptr;
    if (has_nodes && number(launch, "nodes") != 1) return std::nullopt;
    const bool has_tasks = launch.option("ntasks") != nullptr;
    const auto tasks = number(launch, has_tasks ? "ntasks" : "ntasks-per-node");
    if (!tasks || *tasks == 0 || *tasks > k_most) return std::nullopt;
    // Slurm would spread others over the job's nodes.
    if (job_.has_many_nodes() && !has_nodes && (!has_tasks || *tasks > 1)) return std::nullopt;
    return tasks;
  }

  // Without an option, a step gets those of its tasks, or all of the job.
  [[nodiscard]] std::optional<std::uint64_t> gpus_of(const lint::Launch& launch,
                                                     std::uint64_t tasks) const {
    for (const std::string_view name : {"gpus", "gpus-per-node", "gres", "gpus-per-task"}) {
      if (launch.option(name) == nullptr) continue;
      const auto value = text(launch, name.data());
      if (!value) return std::nullopt;
      if (has_no_gpus(*value, name == "gres")) return 0;
      const auto count = lint::gpus_in(*value, name == "gres");
      return count && name == "gpus-per-task" ? *count * tasks : count;
    }
    if (job_.gpus_per_task) return *job_.gpus_per_task * tasks;
    return job_.has_gpus ? std::nullopt : std::optional(std::uint64_t{0});
  }

  // 0, gpu:0, gpu:a100:0, none
  [[nodiscard]] static bool has_no_gpus(const std::string& value, bool is_gres) {
    if (is_gres && value == "none") return true;
    return value == "0" || (value.ends_with(":0") && value.find(',') == std::string::npos);
  }

  const lint::Job& job_;
  const Resolver& resolver_;
};

// The script does nothing else until `end`.
bool all_run_at_once(const std::vector<Part>& parts,
                     const std::vector<std::size_t>& places,
                     std::size_t end,
                     const Waiting& waiting) {
  for (std::size_t i = 0; i < places.size(); ++i) {
    const bool is_last = i + 1 == places.size();
    if (!parts[places[i]].item.statement->background && !is_last) return false;
    if (!waiting.is_waited_for[i]) return false;
  }
  const auto begin = parts.begin();
  return std::none_of(begin + static_cast<std::ptrdiff_t>(places.front()),
                      begin + static_cast<std::ptrdiff_t>(end),
                      [](const Part& part) { return is_action(part) && !waits(part.item); });
}

// torchrun --nproc-per-node 2, which says the same as a node's two GPUs, but not as the step's one.
bool names_gpus_of_node(const Item& item, const Amounts& step, const Amounts& node) {
  const lint::Run& run = *item.mains.front();
  if (!run.launch.starts_processes || step.gpus == node.gpus) return false;
  const auto is_of_node = [&](const char* name) {
    const auto option = lint::program_option(run.words, run.launch.program_at, name);
    return option && parse_number(option->value.text) == node.gpus;
  };
  return is_of_node("nproc_per_node") || is_of_node("num_processes") || is_of_node("num_gpus");
}

// By their programs; what several roles would be called is numbered.
void name_roles(const std::vector<Part>& parts,
                const std::vector<std::size_t>& places,
                std::vector<Troupe>& roles) {
  std::set<std::string> taken;
  for (Troupe& role : roles) {
    const lint::Run& run = *parts[places[role.programs.front()]].item.mains.front();
    std::vector<std::string> command;
    for (std::size_t i = run.launch.command_at; i < run.words.size(); ++i)
      command.push_back(run.words[i].value.text);
    const std::string name = plan::default_job_name(command);
    role.name = name;
    for (unsigned number = 2; !taken.insert(spec::variable_name(role.name)).second; ++number)
      role.name = fmt::format("{}-{}", name, number);
  }
}

}  // namespace

bool cast_beside(const std::vector<Part>& parts,
                 const std::vector<std::size_t>& places,
                 const lint::Job& job,
                 const Resolver& resolver,
                 const Waiting& waiting,
                 Cast& cast) {
  if (places.size() < 2 || places.size() > spec::k_most_parts) return false;
  if (prepares_once(parts, places.back()) || ends_programs(parts) || are_one_training(parts))
    return false;
  const AmountReader reader(job, resolver);
  const auto node = reader.of_node();
  if (!node || !all_run_at_once(parts, places, cast.end, waiting)) return false;
  const std::size_t nodes = std::max<std::uint64_t>(job.nodes.value_or(1), 1);
  std::vector<Amounts> left(std::min(nodes, places.size()), *node);
  std::vector<std::vector<Troupe>> by_node(left.size());
  for (std::size_t i = 0; i < places.size(); ++i) {
    const Item& item = parts[places[i]].item;
    const auto need = reader.of_step(item);
    if (!need || names_gpus_of_node(item, *need, *node)) return false;
    const auto room =
        std::find_if(left.begin(), left.end(), [&](const Amounts& one) { return one.hold(*need); });
    if (room == left.end()) return !(cast.lacks_room = true);
    *room = {room->cpus - need->cpus, room->gpus - need->gpus, room->memory - need->memory};
    const auto at = static_cast<std::size_t>(room - left.begin());
    by_node[at].push_back({"", NodeRange{at, at + 1}, {i}});
  }
  cast.are_beside = true;
  cast.spare_others = !ends_on_failure(parts);
  for (const std::vector<Troupe>& of_node : by_node)
    for (std::size_t i = 0; i < of_node.size(); ++i) {
      cast.roles.push_back(of_node[i]);
      if (i > 0) cast.roles.back().beside = cast.roles.size() - 1 - i;
      cast.nodes[of_node[i].programs.front()] = of_node[i].nodes;
    }
  name_roles(parts, places, cast.roles);
  return true;
}

bool lacks_room(const std::vector<const Item*>& items,
                const lint::Job& job,
                const Resolver& resolver) {
  const AmountReader reader(job, resolver);
  Amounts all;
  std::size_t steps = 0;
  for (const Item* item : items) {
    if (!item->statement->background || item->mains.size() != 1) continue;
    const Amounts least = reader.least_of(item->mains[0]->launch);
    steps += least.cpus > 0 ? 1 : 0;
    all = {all.cpus + least.cpus, 0, all.memory + least.memory};
  }
  const bool is_loop_over_node = job.is_exclusive && steps > spec::k_most_parts;
  return steps > 1 && (is_loop_over_node || !reader.most_of_node().hold(all));
}

}  // namespace dts::convert
