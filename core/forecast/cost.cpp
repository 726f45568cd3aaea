// SPDX-License-Identifier: Apache-2.0
#include "core/forecast/cost.hpp"

#include "core/base/text/text.hpp"
#include "core/plan/billed.hpp"

namespace dts::forecast {
namespace {

constexpr double k_mib_in_gib = 1024;

void add(Cost& cost, JobLimit::Of of, std::string what, double amount, double weight) {
  if (weight != 0 && amount != 0) cost.terms.push_back({of, std::move(what), amount, weight});
}

void add_memory(Cost& cost, const Billed& billed, double weight) {
  if (weight == 0) return;
  const Size& size = billed.size;
  if (size.nodes_by_default > 0)
    cost.not_counted.emplace_back(
        "the memory that the site gives by default: request it with --mem");
  if (size.nodes_with_all_memory > 0 && billed.node_memory_mib == 0)
    cost.not_counted.emplace_back("all memory of the nodes, whose size is not known");
  const auto whole = size.nodes_with_all_memory * billed.node_memory_mib;
  add(cost,
      JobLimit::Of::memory,
      "GiB of memory",
      static_cast<double>(size.memory_mib + whole) / k_mib_in_gib,
      weight * k_mib_in_gib);
}

void add_gpus(Cost& cost, const Gpus& gpus, const BillingWeights& weights) {
  add(cost, JobLimit::Of::gpus, "GPU", gpus.all, weights.gpu);
  unsigned typed = 0;
  for (const auto& [type, number] : gpus.by_type) {
    typed += number;
    // Slurm compares names of resources regardless of case.
    const auto found = weights.gpu_types.find(in_lower_case(type));
    if (found != weights.gpu_types.end())
      add(cost, JobLimit::Of::gpus, "GPU " + type, number, found->second);
  }
  if (typed < gpus.all && !weights.gpu_types.empty())
    cost.not_counted.emplace_back(
        "what the type of the GPUs adds: name one, as in --gpus-per-node TYPE:N");
}

std::uint64_t units_of(BillingRule rule, const std::vector<Term>& terms) {
  std::vector<plan::BilledTerm> billed;
  for (const Term& term : terms) billed.push_back({term.of, term.units()});
  return plan::billed_units(rule, billed);
}

}  // namespace

std::optional<double> Cost::total() const {
  return hours ? std::optional(*hours * static_cast<double>(units)) : std::nullopt;
}

Cost cost_of(const Billed& billed, const std::optional<BillingWeights>& weights, BillingRule rule) {
  Cost cost;
  cost.is_by_default = !weights;
  cost.rule = weights ? rule : BillingRule::sum;
  const Size& size = billed.size;
  const auto processors = billed.processors > 0 ? billed.processors : size.cores;
  add(cost,
      JobLimit::Of::cpus,
      "CPU",
      static_cast<double>(processors),
      weights ? weights->processor : 1);
  if (weights) {
    add_memory(cost, billed, weights->memory_mib);
    add_gpus(cost, billed.gpus, *weights);
    add(cost, JobLimit::Of::nodes, "node", size.nodes, weights->node);
    for (const std::string& other : weights->others) cost.not_counted.push_back(other);
  }
  cost.units = units_of(cost.rule, cost.terms);
  if (billed.limit && *billed.limit != std::chrono::seconds::max())
    cost.hours = std::chrono::duration<double, std::ratio<3600>>(*billed.limit).count();
  return cost;
}

}  // namespace dts::forecast
