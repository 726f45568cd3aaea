// SPDX-License-Identifier: Apache-2.0
#include "core/spec/size.hpp"

#include "core/base/text/counted.hpp"
#include "core/base/text/hostlist.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>

namespace dts::spec {
namespace {

// A count and the option that gave it; empty if it follows from others.
struct Quantity {
  std::optional<std::uint64_t> value;
  const char* option = "";
};

struct Size {
  Quantity nodes, tasks, gpus;             // of the whole job
  Quantity tasks_per_node, gpus_per_node;  // on each node
  Quantity gpus_per_task, tasks_per_gpu;   // per task, per GPU
};

// whole = parts x each
struct Equation {
  Quantity Size::*whole;
  Quantity Size::*parts;
  Quantity Size::*each;
  const char* words;
  bool needs_given_each = false;  // applies only if `each` was given; it is never derived
};

constexpr std::array k_equations{
    Equation{&Size::tasks, &Size::nodes, &Size::tasks_per_node, "ranks on each of the nodes"},
    Equation{&Size::gpus, &Size::nodes, &Size::gpus_per_node, "GPUs on each of the nodes"},
    Equation{&Size::gpus_per_node,
             &Size::tasks_per_node,
             &Size::gpus_per_task,
             "GPUs for each rank of a node",
             true},
    Equation{&Size::tasks_per_node,
             &Size::gpus_per_node,
             &Size::tasks_per_gpu,
             "ranks for each GPU of a node",
             true},
    Equation{&Size::gpus, &Size::tasks, &Size::gpus_per_task, "GPUs for each rank", true},
    Equation{&Size::tasks, &Size::gpus, &Size::tasks_per_gpu, "ranks for each GPU", true},
};

std::string described(const Quantity& quantity) {
  return *quantity.option != '\0' ? fmt::format("{} {}", quantity.option, *quantity.value)
                                  : std::to_string(*quantity.value);
}

class Solver {
 public:
  Solver(Size& size, Diagnostics& problems) : size_(size), problems_(problems) {}

  // Applies the equations until nothing new follows; false as soon as one is violated.
  bool solve() {
    for (bool news = true; news;) {
      news = false;
      for (const Equation& equation : k_equations) {
        const auto step = apply(equation);
        if (!step) return false;
        news = news || *step;
      }
    }
    return true;
  }

 private:
  // True if a quantity became known; nullopt if the equation is violated.
  std::optional<bool> apply(const Equation& equation) {
    Quantity& whole = size_.*equation.whole;
    Quantity& parts = size_.*equation.parts;
    Quantity& each = size_.*equation.each;
    const int known = (whole.value ? 1 : 0) + (parts.value ? 1 : 0) + (each.value ? 1 : 0);
    if (known < 2) return false;
    if (equation.needs_given_each && !each.value) return false;
    if (!whole.value) {
      whole.value = *parts.value * *each.value;
      return true;
    }
    Quantity& divisor = parts.value ? parts : each;
    Quantity& quotient = parts.value ? each : parts;
    if (*divisor.value == 0) return *whole.value == 0 ? std::optional(false) : refuse(equation);
    if (known == 3)
      return *whole.value == *parts.value * *each.value ? std::optional(false) : refuse(equation);
    if (*whole.value % *divisor.value != 0) return refuse(equation);
    quotient.value = *whole.value / *divisor.value;
    return true;
  }

  std::optional<bool> refuse(const Equation& equation) {
    std::string given;
    for (const Quantity Size::*one : {equation.whole, equation.parts, equation.each})
      if (const Quantity& quantity = size_.*one; quantity.value)
        given += (given.empty() ? "" : ", ") + described(quantity);
    const Quantity& whole = size_.*equation.whole;
    problems_.push_back({*whole.option != '\0' ? whole.option : "size",
                         fmt::format("{}: no whole number of {}", given, equation.words),
                         "all nodes have the same number of ranks and GPUs: set --nodes, "
                         "--ntasks-per-node and --gpus-per-node"});
    return std::nullopt;
  }

  Size& size_;
  Diagnostics& problems_;
};

// Applies the defaults one by one until everything is known.
void assume(Size& size, std::uint64_t named_nodes) {
  const bool by_gpu = size.tasks.value && size.gpus_per_node.value.value_or(0) > 0 &&
                      *size.tasks.value % *size.gpus_per_node.value == 0;
  if (!size.nodes.value && !size.tasks_per_node.value && by_gpu)
    size.tasks_per_node.value = size.gpus_per_node.value;  // one rank per GPU
  else if (!size.nodes.value)
    size.nodes.value = named_nodes;
  else if (!size.tasks_per_node.value && !size.gpus_per_node.value && size.gpus_per_task.value)
    size.tasks_per_node.value = 1;
}

bool is_settled(const Size& size) {
  const bool has_ranks = size.tasks_per_node.value || size.gpus_per_node.value;
  return size.nodes.value && (has_ranks || !size.gpus_per_task.value);
}

// Number of nodes in --nodelist, which must all be in the job; 1 if it is absent or not a list.
std::uint64_t named_nodes(const JobSpec& spec) {
  const auto list = spec.slurm.find("nodelist");
  if (list == spec.slurm.end()) return 1;
  const auto nodes = expand_hostlist(list->second);
  return nodes ? std::max<std::uint64_t>(1, nodes->size()) : 1;
}

Quantity given(const std::optional<unsigned>& number, const char* option) {
  return {number ? std::optional<std::uint64_t>(*number) : std::nullopt, option};
}

}  // namespace

std::uint64_t nodes_that_share(std::uint64_t ntasks, std::uint64_t nodes) {
  std::uint64_t all = std::max<std::uint64_t>(1, std::min(ntasks, nodes));
  while (ntasks % all != 0) --all;
  return all;
}

void share_nodes_of_job(JobSpec& step, unsigned nodes) {
  Totals& totals = step.totals;
  const bool has_others = totals.gpus || totals.gpus_per_task || totals.ntasks_per_gpu;
  if (nodes < 2 || !totals.ntasks || totals.nodes_given || step.ntasks_per_node || has_others)
    return;
  step.nodes = static_cast<unsigned>(nodes_that_share(*totals.ntasks, nodes));
  totals.nodes_given = true;
}

void settle_size(JobSpec& spec, Diagnostics& problems) {
  const Totals& totals = spec.totals;
  Size size;
  if (totals.nodes_given) size.nodes = given(spec.nodes, "--nodes");
  size.tasks = given(totals.ntasks, "--ntasks");
  size.gpus = given(totals.gpus, "--gpus");
  size.tasks_per_node = given(spec.ntasks_per_node, "--ntasks-per-node");
  size.gpus_per_node = given(spec.gpus_per_node, "--gpus-per-node");
  size.gpus_per_task = given(totals.gpus_per_task, "--gpus-per-task");
  size.tasks_per_gpu = given(totals.ntasks_per_gpu, "--ntasks-per-gpu");
  const std::uint64_t named = named_nodes(spec);
  const bool any = totals.any() || (named > 1 && !totals.nodes_given);
  spec.totals = {};
  if (!any) return;
  Solver solver(size, problems);
  if (!solver.solve()) return;
  while (!is_settled(size)) {
    assume(size, named);
    if (!solver.solve()) return;
  }
  const auto set = [](const Quantity& from, auto& into) {
    if (from.value) into = static_cast<unsigned>(std::min<std::uint64_t>(*from.value, 1'000'000));
  };
  if (*size.nodes.value < named)
    problems.push_back(
        {"--nodelist",
         fmt::format("names {}, but the job has {}", counted(named, "node"), *size.nodes.value),
         "--nodelist names nodes that must be in the job: give --nodes, too"});
  set(size.nodes, spec.nodes);
  set(size.tasks_per_node, spec.ntasks_per_node);
  set(size.gpus_per_node, spec.gpus_per_node);
}

}  // namespace dts::spec
