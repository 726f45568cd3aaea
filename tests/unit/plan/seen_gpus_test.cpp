// SPDX-License-Identifier: Apache-2.0
// The GPUs that a rank's program sees: its own, or those of all ranks of its node.
#include "core/plan/plan.hpp"

#include <doctest/doctest.h>

#include <map>
#include <string>
#include <utility>
#include <vector>

namespace dts::plan {
namespace {

using GpuNames = std::vector<std::string>;

std::map<std::string, std::string> variables_with(
    const std::vector<std::pair<unsigned, GpuNames>>& ranks, std::size_t rank, const char* view) {
  std::vector<Placement> all;
  std::map<unsigned, unsigned> local_ranks;
  Rendezvous where{"10.0.0.0", 29000, {}, {}, "eth0", ""};
  for (const auto& [node, gpus] : ranks) {
    Placement& one = all.emplace_back();
    one.rank = static_cast<unsigned>(all.size() - 1);
    one.node_rank = node;
    one.node = "n" + std::to_string(node);
    one.local_rank = local_ranks[node]++;
    one.local_world_size = 2;
    one.gpus = gpus;
    if (where.hosts.size() <= node) where.hosts.push_back("10.0.0." + std::to_string(node));
    where.worker_ports.push_back(20000 + one.rank);
  }
  Plan plan;
  plan.gpu_view = view;
  const Environment found = rank_environments(all, where, plan).at(rank);
  return {found.begin(), found.end()};
}

struct Seen {
  std::string visible, jax, sagemaker;
};

void check_seen(const std::vector<std::pair<unsigned, GpuNames>>& ranks,
                std::size_t rank,
                const char* view,
                const Seen& expected) {
  CAPTURE(rank);
  CAPTURE(std::string(view));
  auto found = variables_with(ranks, rank, view);
  CHECK(found["CUDA_VISIBLE_DEVICES"] == expected.visible);
  CHECK(found["JAX_LOCAL_DEVICE_IDS"] == expected.jax);
  CHECK(found["SM_NUM_GPUS"] == expected.sagemaker);
}

}  // namespace

TEST_CASE("with the view of a node, the GPU whose number is the local rank is the rank's own") {
  // By locality, not by number.
  const std::vector<std::pair<unsigned, GpuNames>> ranks{
      {0, {"3"}}, {0, {"1"}}, {1, {"0"}}, {1, {"2"}}};
  check_seen(ranks, 0, "node", {"3,1", "0", "2"});
  check_seen(ranks, 1, "node", {"3,1", "1", "2"});
  check_seen(ranks, 2, "node", {"0,2", "0", "2"});
  check_seen(ranks, 3, "node", {"0,2", "1", "2"});
  for (const char* own : {"rank", "auto"}) check_seen(ranks, 1, own, {"1", "0", "1"});
}

TEST_CASE(
    "a node's view has several GPUs of a rank in a row, shared ones once, but no other MIG "
    "instance") {
  const std::vector<std::pair<unsigned, GpuNames>> two{{0, {"GPU-a", "GPU-b"}},
                                                       {0, {"GPU-c", "GPU-d"}}};
  check_seen(two, 1, "node", {"GPU-a,GPU-b,GPU-c,GPU-d", "2,3", "4"});
  const std::vector<std::pair<unsigned, GpuNames>> shared{{0, {"5"}}, {0, {"5"}}};
  check_seen(shared, 1, "node", {"5", "0", "1"});
  const std::vector<std::pair<unsigned, GpuNames>> instances{{0, {"MIG-a"}}, {0, {"MIG-b"}}};
  check_seen(instances, 1, "node", {"MIG-b", "0", "1"});
  const std::vector<std::pair<unsigned, GpuNames>> none{{0, {"5"}}, {0, {}}};
  CHECK(variables_with(none, 1, "node").count("CUDA_VISIBLE_DEVICES") == 0);
}

}  // namespace dts::plan
