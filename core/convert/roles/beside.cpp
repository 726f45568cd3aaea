// SPDX-License-Identifier: Apache-2.0
#include "core/convert/roles/beside.hpp"

#include "core/base/text/text.hpp"
#include "core/convert/roles/sizes.hpp"
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
};

constexpr std::uint64_t k_whole = std::uint64_t{1} << 32;

class StepReader {
 public:
  StepReader(const lint::Job& job, const Resolver& resolver) : job_(job), resolver_(resolver) {}

  // What a node of the job has; nullopt: not known.
  [[nodiscard]] std::optional<Amounts> of_node() const {
    if (job_.has_gpus && !job_.gpus_per_node) return std::nullopt;
    const auto tasks = job_.nodes ? job_.tasks_on_node() : job_.ntasks.value_or(1);
    if (!tasks) return std::nullopt;
    // A whole node has as many as the script relies on.
    const std::uint64_t cpus =
        job_.is_exclusive ? k_whole : *tasks * job_.cpus_per_task.value_or(1);
    return Amounts{cpus, job_.gpus_per_node.value_or(0)};
  }

  // What a step of one node needs; nullopt: it is none, or does not say.
  [[nodiscard]] std::optional<Amounts> of_step(const Item& item) const {
    if (item.mains.size() != 1) return std::nullopt;
    const lint::Launch& launch = item.mains[0]->launch;
    const bool is_step = launch.launcher == lint::Launcher::srun && !launch.has_unknown_options;
    for (const char* name : {"nodelist", "overlap", "het-group", "relative"})
      if (!is_step || launch.option(name) != nullptr) return std::nullopt;
    if (launch.option("nodes") != nullptr && number(launch, "nodes") != 1) return std::nullopt;
    const auto tasks =
        number(launch, launch.option("ntasks") != nullptr ? "ntasks" : "ntasks-per-node");
    if (!tasks || *tasks == 0) return std::nullopt;
    const auto gpus = gpus_of(launch, *tasks);
    if (!gpus) return std::nullopt;
    const std::uint64_t each =
        number(launch, "cpus-per-task").value_or(job_.cpus_per_task.value_or(1));
    return Amounts{*tasks * each, *gpus};
  }

 private:
  [[nodiscard]] std::optional<std::uint64_t> number(const lint::Launch& launch,
                                                    const char* name) const {
    const lint::LaunchOption* option = launch.option(name);
    return option == nullptr ? std::nullopt : number_of(option->value, resolver_);
  }

  // Without an option, a step gets those of its tasks, or all of the job.
  [[nodiscard]] std::optional<std::uint64_t> gpus_of(const lint::Launch& launch,
                                                     std::uint64_t tasks) const {
    for (const char* name : {"gpus", "gpus-per-node", "gres", "gpus-per-task"}) {
      const lint::LaunchOption* option = launch.option(name);
      if (option == nullptr) continue;
      const std::string_view gres(name);
      const auto text = resolver_.text(from_expanded({{option->value, true}, {}, false}));
      const auto count = text ? lint::gpus_in(*text, gres == "gres") : std::nullopt;
      if (!count) return std::nullopt;
      return gres == "gpus-per-task" ? *count * tasks : *count;
    }
    if (job_.gpus_per_task) return *job_.gpus_per_task * tasks;
    return job_.has_gpus ? std::nullopt : std::optional(std::uint64_t{0});
  }

  const lint::Job& job_;
  const Resolver& resolver_;
};

bool all_run_at_once(const std::vector<Part>& parts,
                     const std::vector<std::size_t>& places,
                     const Waiting& waiting) {
  for (std::size_t i = 0; i < places.size(); ++i) {
    const bool is_last = i + 1 == places.size();
    if (!parts[places[i]].item.statement->background && !is_last) return false;
    if (!waiting.is_waited_for[i]) return false;
  }
  const auto begin = parts.begin();
  return std::none_of(begin + static_cast<std::ptrdiff_t>(places.front()),
                      begin + static_cast<std::ptrdiff_t>(places.back()),
                      is_action);
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
  const StepReader reader(job, resolver);
  const auto node = reader.of_node();
  if (!node || !all_run_at_once(parts, places, waiting)) return false;
  std::vector<Amounts> left(job.nodes.value_or(1), *node);
  std::vector<std::vector<Troupe>> by_node(left.size());
  for (std::size_t i = 0; i < places.size(); ++i) {
    const auto need = reader.of_step(parts[places[i]].item);
    if (!need) return false;
    const auto room = std::find_if(left.begin(), left.end(), [&](const Amounts& one) {
      return one.cpus >= need->cpus && one.gpus >= need->gpus;
    });
    if (room == left.end()) return false;
    room->cpus -= need->cpus;
    room->gpus -= need->gpus;
    const auto at = static_cast<std::size_t>(room - left.begin());
    by_node[at].push_back({"", NodeRange{at, at + 1}, {i}});
  }
  cast.are_beside = true;
  for (const std::vector<Troupe>& of_node : by_node)
    for (std::size_t i = 0; i < of_node.size(); ++i) {
      cast.roles.push_back(of_node[i]);
      if (i > 0) cast.roles.back().beside = cast.roles.size() - 1 - i;
      cast.nodes[of_node[i].programs.front()] = of_node[i].nodes;
    }
  name_roles(parts, places, cast.roles);
  return true;
}

}  // namespace dts::convert
