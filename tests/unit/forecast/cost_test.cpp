// SPDX-License-Identifier: Apache-2.0
// What is billed. That Slurm bills the same is tried on real clusters:
// tests/integration/plan_cost.py.
#include "core/forecast/cost.hpp"

#include <doctest/doctest.h>

namespace dts::forecast {
namespace {

// 4 nodes with 8 CPUs, 2 GPUs and 16 GiB each, for 4 hours.
Billed usual() {
  Billed billed;
  billed.size = {.nodes = 4, .ranks = 8, .cores = 32, .gpus = 8, .memory_mib = 65'536};
  billed.gpus = {.all = 8};
  billed.limit = std::chrono::hours(4);
  return billed;
}

BillingWeights weights() {
  return {.node = 0, .processor = 1, .memory_mib = 0.25 / 1024, .gpu = 4};
}

}  // namespace

TEST_CASE("without weights each processor is a unit, whatever the rule") {
  const Cost cost = cost_of(usual(), std::nullopt, BillingRule::largest);
  CHECK(cost.is_by_default);
  CHECK(cost.units == 32);
  CHECK(cost.total() == 128.0);
  Billed whole = usual();
  whole.processors = 64;  // whole nodes
  CHECK(cost_of(whole, std::nullopt, BillingRule::sum).units == 64);
}

TEST_CASE("the sum is of processors, memory and GPUs, the largest one of them") {
  const Cost sum = cost_of(usual(), weights(), BillingRule::sum);
  CHECK(sum.terms.size() == 3);
  CHECK(sum.units == 32 + 16 + 32);
  CHECK(cost_of(usual(), weights(), BillingRule::largest).units == 32);
  CHECK(cost_of(usual(), weights(), BillingRule::largest_and_gpus).units == 32 + 32);
}

TEST_CASE("units are whole, rounded down, but decimal fractions lose none") {
  BillingWeights light{.node = 0, .processor = 0.1, .memory_mib = 0, .gpu = 0};
  Billed billed = usual();
  billed.processors = 30;
  CHECK(cost_of(billed, light, BillingRule::sum).units == 3);
  billed.processors = 39;
  CHECK(cost_of(billed, light, BillingRule::sum).units == 3);
}

TEST_CASE("a node and a type of GPU have weights of their own") {
  BillingWeights typed = weights();
  typed.node = 10;
  typed.gpu_types["a100"] = 2;
  Billed billed = usual();
  Cost cost = cost_of(billed, typed, BillingRule::sum);
  CHECK(cost.units == 80 + 40);
  CHECK(cost.not_counted.size() == 1);  // which type they are
  billed.gpus.by_type["A100"] = 8;
  cost = cost_of(billed, typed, BillingRule::sum);
  CHECK(cost.units == 80 + 40 + 16);
  CHECK(cost.not_counted.empty());
  billed.gpus.by_type = {{"v100", 8}};
  CHECK(cost_of(billed, typed, BillingRule::sum).units == 80 + 40);
}

TEST_CASE("GPUs are billed by the type that was asked for, otherwise by that of the nodes") {
  using Types = std::map<std::string, unsigned>;
  sched::NodeInfo node;
  node.gpus = 4;
  node.gpu_types = {{"a100", 4}};
  Size size{.nodes = 2, .gpus = 4};
  CHECK(billed_gpus(size, {}, false).by_type.empty());
  CHECK(billed_gpus(size, {node, node}, false).by_type == Types{{"a100", 4}});
  CHECK(billed_gpus(size, {node, node}, true).by_type == Types{{"a100", 8}});
  sched::NodeInfo other = node;
  other.gpu_types = {{"v100", 4}};
  CHECK(billed_gpus(size, {node, other}, false).by_type.empty());
  CHECK(billed_gpus(size, {node, other}, true).by_type == Types{{"a100", 4}, {"v100", 4}});
  size.gpus_by_type = {{"v100", 4}};
  CHECK(billed_gpus(size, {node, other}, false).by_type == Types{{"v100", 4}});
  other.gpu_types.clear();  // the site names no type of its GPUs
  size.gpus_by_type.clear();
  CHECK(billed_gpus(size, {node, other}, false).by_type.empty());
  CHECK(billed_gpus(size, {}, true).all == 4);
}

TEST_CASE("uncounted resources are named, and an unlimited job has no total") {
  Billed billed = usual();
  billed.size.memory_mib = 0;
  billed.size.nodes_with_all_memory = 4;
  CHECK(cost_of(billed, weights(), BillingRule::sum).not_counted.size() == 1);
  billed.node_memory_mib = 16'384;
  CHECK(cost_of(billed, weights(), BillingRule::sum).units == 80);
  billed.size.nodes_with_all_memory = 0;
  billed.size.nodes_by_default = 4;
  billed.limit = std::chrono::seconds::max();
  BillingWeights more = weights();
  more.others = {"license/solver=2"};
  const Cost cost = cost_of(billed, more, BillingRule::sum);
  CHECK(cost.units == 64);
  CHECK(cost.not_counted.size() == 2);
  CHECK_FALSE(cost.total().has_value());
}

}  // namespace dts::forecast
