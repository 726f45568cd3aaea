// SPDX-License-Identifier: Apache-2.0
// What a rank's program is told, and what it must not inherit.
#include "core/base/hash.hpp"
#include "core/base/text.hpp"
#include "core/plan/plan.hpp"

#include <algorithm>
#include <functional>
#include <iterator>
#include <numeric>
#include <set>

namespace dts::plan {

std::vector<std::pair<std::string, std::string>> rank_environment(const Placement& placement,
                                                                  const std::vector<Placement>& all,
                                                                  const Rendezvous& rendezvous) {
  const auto text = [](std::size_t value) { return std::to_string(value); };
  std::vector<std::pair<std::string, std::string>> variables = {
      {"RANK", text(placement.rank)},
      {"WORLD_SIZE", text(all.size())},
      {"LOCAL_RANK", text(placement.local_rank)},
      {"LOCAL_WORLD_SIZE", text(placement.local_world_size)},
      {"NODE_RANK", text(placement.node_rank)},
      {"GROUP_RANK", text(placement.node_rank)},
      {"MASTER_ADDR", rendezvous.master_addr},
      {"MASTER_PORT", text(rendezvous.master_port)},
      {"OMP_NUM_THREADS", text(std::max(1U, placement.cores))},
  };
  if (!placement.gpus.empty()) {
    variables.emplace_back("CUDA_VISIBLE_DEVICES", join(placement.gpus, ","));
    variables.emplace_back("CUDA_DEVICE_ORDER", "PCI_BUS_ID");
  }
  return variables;
}

bool is_leaky_variable(std::string_view name) {
  constexpr const char* k_prefixes[] = {
      "SLURM_", "SBATCH_", "SRUN_", "OMPI_", "PMIX_", "PMI_", "PRTE_"};
  static const std::set<std::string, std::less<>> k_names = {"RANK",
                                                             "WORLD_SIZE",
                                                             "LOCAL_RANK",
                                                             "LOCAL_WORLD_SIZE",
                                                             "NODE_RANK",
                                                             "GROUP_RANK",
                                                             "MASTER_ADDR",
                                                             "MASTER_PORT",
                                                             "TF_CONFIG",
                                                             "HOROVOD_RANK",
                                                             "HOROVOD_SIZE",
                                                             "HOROVOD_LOCAL_RANK",
                                                             "JAX_PROCESS_ID",
                                                             "JAX_NUM_PROCESSES",
                                                             "HOROVOD_CROSS_RANK",
                                                             "HOROVOD_LOCAL_SIZE",
                                                             "HOROVOD_CROSS_SIZE",
                                                             "JAX_COORDINATOR_ADDRESS"};
  if (name == "SLURM_CONF") return false;
  return k_names.count(name) > 0 ||
         std::any_of(std::begin(k_prefixes), std::end(k_prefixes), [&](std::string_view prefix) {
           return name.substr(0, prefix.size()) == prefix;
         });
}

std::vector<unsigned> master_port_candidates(const std::string& run,
                                             unsigned attempt,
                                             unsigned ephemeral_low,
                                             unsigned ephemeral_high,
                                             unsigned count) {
  constexpr unsigned k_first = 1024, k_last = 65535;
  std::vector<unsigned> pool;
  for (unsigned port = k_first; port <= k_last; ++port)
    if (port < ephemeral_low || port > ephemeral_high) pool.push_back(port);
  if (pool.empty()) return {};
  // A walk with a step that shares no factor with the size visits every port once.
  const std::uint64_t salt = hash64(run + "/" + std::to_string(attempt));
  std::uint64_t at = salt % pool.size();
  std::uint64_t step = 1 + (salt >> 32) % pool.size();
  while (std::gcd(step, pool.size()) != 1) ++step;
  std::vector<unsigned> ports;
  while (ports.size() < std::min<std::size_t>(count, pool.size())) {
    ports.push_back(pool[at]);
    at = (at + step) % pool.size();
  }
  return ports;
}

}  // namespace dts::plan
