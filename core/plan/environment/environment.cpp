// SPDX-License-Identifier: Apache-2.0
// The variables of a rank's program.
#include "core/base/text/hostlist.hpp"
#include "core/base/text/json_text.hpp"
#include "core/base/text/text.hpp"
#include "core/plan/plan.hpp"
#include "core/plan/program/own_launcher.hpp"
#include "core/plan/thread_places.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <map>
#include <set>

namespace dts::plan {

namespace {

// Linux limits a variable to 128 KiB (MAX_ARG_STRLEN), and the agent sends every rank a copy.
constexpr std::size_t k_longest_list = std::size_t{64} << 10;
constexpr std::size_t k_all_copies = std::size_t{32} << 20;

bool fits(const std::string& list, std::size_t ranks) {
  return list.size() <= std::min(k_longest_list, k_all_copies / ranks);
}

std::string endpoint(const std::string& host, unsigned port) {
  const bool is_ipv6 = host.find(':') != std::string::npos;
  return (is_ipv6 ? "[" + host + "]" : host) + ":" + std::to_string(port);
}

std::string json_list(const std::vector<std::string>& words) {
  return json_line(nlohmann::json(words));
}

using GpusOfNodes = std::map<unsigned, std::vector<std::string>>;  // by node rank

// In the order of local ranks; one that several share is listed once.
GpusOfNodes gpus_of_nodes(const std::vector<Placement>& placements) {
  std::map<unsigned, std::map<unsigned, const Placement*>> nodes;
  for (const Placement& one : placements) nodes[one.node_rank][one.local_rank] = &one;
  GpusOfNodes all;
  for (const auto& [node, ranks] : nodes) {
    std::vector<std::string>& gpus = all[node];
    for (const auto& [local, rank] : ranks)
      for (const std::string& gpu : rank->gpus)
        if (!is_one_of(gpus, gpu)) gpus.push_back(gpu);
  }
  return all;
}

// Values that the variables of all ranks share.
struct World {
  const std::vector<Placement>& placements;
  const Rendezvous& rendezvous;
  std::string workers;  // JSON; empty: too long
  std::string hosts;    // JSON; empty: too long, or two nodes share an address
  std::string coordinator;
  std::vector<std::vector<unsigned>> nodes_with;  // node ranks of nodes with this local rank
  GpusOfNodes gpus_of_nodes;  // which all ranks of a node see; empty: each sees its own

  World(const std::vector<Placement>& all, const Rendezvous& where, GpusOfNodes gpus)
      : placements(all), rendezvous(where), gpus_of_nodes(std::move(gpus)) {
    std::vector<std::string> endpoints;
    for (const Placement& one : all) {
      endpoints.push_back(endpoint(where.hosts.at(one.node_rank), where.worker_ports.at(one.rank)));
      if (nodes_with.size() <= one.local_rank) nodes_with.resize(one.local_rank + 1);
      nodes_with[one.local_rank].push_back(one.node_rank);
    }
    for (auto& nodes : nodes_with) std::sort(nodes.begin(), nodes.end());
    if (std::string list = json_list(endpoints); fits(list, all.size())) workers = std::move(list);
    const bool distinct =
        std::set<std::string>(where.hosts.begin(), where.hosts.end()).size() == where.hosts.size();
    if (std::string list = json_list(where.hosts); distinct && fits(list, all.size()))
      hosts = std::move(list);
    coordinator = endpoint(where.master_addr, where.worker_ports.at(0));
  }
};

std::string text(std::size_t value) {
  return std::to_string(value);
}

void add_pytorch(Environment& variables, const World& world, const Placement& rank) {
  variables.insert(variables.end(),
                   {{"RANK", text(rank.rank)},
                    {"WORLD_SIZE", text(world.placements.size())},
                    {"LOCAL_RANK", text(rank.local_rank)},
                    {"LOCAL_WORLD_SIZE", text(rank.local_world_size)},
                    {"NODE_RANK", text(rank.node_rank)},
                    {"GROUP_RANK", text(rank.node_rank)},
                    {"MASTER_ADDR", world.rendezvous.master_addr},
                    {"MASTER_PORT", text(world.rendezvous.master_port)}});
}

void add_tensorflow(Environment& variables, const World& world, const Placement& rank) {
  if (world.workers.empty()) return;
  variables.emplace_back("TF_CONFIG",
                         R"({"cluster":{"worker":)" + world.workers +
                             R"(},"task":{"type":"worker","index":)" + text(rank.rank) + "}}");
}

// The GPUs that the rank's program sees, as values of CUDA_VISIBLE_DEVICES. Of several MIG
// instances, CUDA shows a process only the first (NVIDIA's MIG user guide, "CUDA visible devices").
const std::vector<std::string>& seen_gpus(const World& world, const Placement& rank) {
  const bool is_alone = !rank.gpus.empty() && rank.gpus.front().starts_with("MIG-");
  const bool sees_own = world.gpus_of_nodes.empty() || is_alone;
  return sees_own ? rank.gpus : world.gpus_of_nodes.at(rank.node_rank);
}

void add_jax(Environment& variables, const World& world, const Placement& rank) {
  variables.insert(variables.end(),
                   {{"JAX_COORDINATOR_ADDRESS", world.coordinator},
                    {"JAX_NUM_PROCESSES", text(world.placements.size())},
                    {"JAX_PROCESS_ID", text(rank.rank)}});
  // Under Open MPI and Slurm, JAX would otherwise take the GPU whose number is the local rank,
  // which it may not see; indices are those of CUDA_VISIBLE_DEVICES.
  const std::vector<std::string>& seen = seen_gpus(world, rank);
  std::vector<std::string> devices;
  for (std::size_t i = 0; i < seen.size(); ++i)
    if (is_one_of(rank.gpus, seen[i])) devices.push_back(text(i));
  if (!devices.empty()) variables.emplace_back("JAX_LOCAL_DEVICE_IDS", join(devices, ","));
}

void add_horovod(Environment& variables, const World& world, const Placement& rank) {
  const std::vector<unsigned>& nodes = world.nodes_with.at(rank.local_rank);
  const auto before = std::lower_bound(nodes.begin(), nodes.end(), rank.node_rank) - nodes.begin();
  variables.insert(variables.end(),
                   {{"HOROVOD_RANK", text(rank.rank)},
                    {"HOROVOD_SIZE", text(world.placements.size())},
                    {"HOROVOD_LOCAL_RANK", text(rank.local_rank)},
                    {"HOROVOD_LOCAL_SIZE", text(rank.local_world_size)},
                    {"HOROVOD_CROSS_RANK", text(static_cast<std::size_t>(before))},
                    {"HOROVOD_CROSS_SIZE", text(nodes.size())}});
}

void add_sagemaker(Environment& variables, const World& world, const Placement& rank) {
  if (!world.hosts.empty())
    variables.insert(variables.end(),
                     {{"SM_HOSTS", world.hosts},
                      {"SM_CURRENT_HOST", world.rendezvous.hosts.at(rank.node_rank)}});
  variables.emplace_back("SM_NUM_GPUS", text(seen_gpus(world, rank).size()));
}

// The rendezvous backend of a torchrun that is given no endpoint; empty: it needs none.
std::string backend_without_endpoint(const std::vector<std::string>& command) {
  const OwnLauncher launcher = find_own_launcher(command);
  const auto backend = option_of(launcher, "--rdzv-backend");
  const bool needs_one = backend && *backend != "static" && !option_of(launcher, "--rdzv-endpoint");
  return needs_one ? *backend : "";
}

// torchrun takes the default of each option from PET_<OPTION>. Programs that start it with options,
// such as llamafactory-cli and swift, read the names without PET_.
void add_torchrun(Environment& variables,
                  const World& world,
                  const Placement& rank,
                  unsigned workers_per_task,
                  const std::string& backend) {
  const std::string nodes = text(world.rendezvous.hosts.size());
  const std::string workers = text(workers_per_task);
  const std::string& address = world.rendezvous.master_addr;
  const std::string port = text(world.rendezvous.master_port);
  variables.insert(variables.end(),
                   {{"PET_NNODES", nodes},
                    {"PET_NODE_RANK", text(rank.node_rank)},
                    {"PET_NPROC_PER_NODE", workers},
                    {"PET_MASTER_ADDR", address},
                    {"PET_MASTER_PORT", port},
                    {"NNODES", nodes},
                    {"NPROC_PER_NODE", workers}});
  // --rdzv-backend c10d ignores the master, and would take localhost. It believes that the address
  // is this node's only if the node's name resolves to it.
  if (backend.empty()) return;
  variables.emplace_back("PET_RDZV_ENDPOINT", endpoint(address, world.rendezvous.master_port));
  if (backend == "c10d")
    variables.emplace_back("PET_RDZV_CONF", rank.node_rank == 0 ? "is_host=1" : "is_host=0");
}

void add_openmp(Environment& variables, const Placement& rank, const Plan& plan) {
  const unsigned home = rank.home_cores > 0 ? rank.home_cores : rank.cores;
  variables.emplace_back("OMP_NUM_THREADS",
                         text(std::max(1U, home / std::max(1U, plan.workers_per_task))));
  for (auto& variable : threads_on_cores(plan.bind_threads, rank.first_cpus))
    variables.push_back(std::move(variable));
}

void add_libraries(Environment& variables,
                   const World& world,
                   const Placement& rank,
                   const Plan& plan) {
  if (const std::string& interface = world.rendezvous.interface; !interface.empty()) {
    variables.emplace_back("NCCL_SOCKET_IFNAME", "=" + interface);  // =: exact name, not prefix
    variables.emplace_back("GLOO_SOCKET_IFNAME", interface);
  }
  if (!world.rendezvous.hcas.empty())
    variables.emplace_back("NCCL_IB_HCA", "=" + world.rendezvous.hcas);
  if (!rank.nics.empty()) variables.emplace_back("UCX_NET_DEVICES", join(rank.nics, ","));
  add_openmp(variables, rank, plan);
  // An empty list hides all devices (CUDA C++ Programming Guide, HIP's environment variables).
  if (rank.gpus.empty() && plan.hides_gpus)
    variables.insert(variables.end(), {{"CUDA_VISIBLE_DEVICES", ""}, {"ROCR_VISIBLE_DEVICES", ""}});
  if (rank.gpus.empty()) return;
  variables.emplace_back("CUDA_VISIBLE_DEVICES", join(seen_gpus(world, rank), ","));
  variables.emplace_back("CUDA_DEVICE_ORDER", "PCI_BUS_ID");
}

// "8(x2),4": the number of ranks of each node, in node order.
std::string ranks_of_nodes(const std::vector<Placement>& placements) {
  std::map<unsigned, unsigned> ranks;  // by node rank
  for (const Placement& one : placements) ranks[one.node_rank] = one.local_world_size;
  std::string text;
  for (auto node = ranks.begin(); node != ranks.end();) {
    auto end = node;
    unsigned alike = 0;
    for (; end != ranks.end() && end->second == node->second; ++end) ++alike;
    text += fmt::format("{}{}{}",
                        text.empty() ? "" : ",",
                        node->second,
                        alike > 1 ? fmt::format("(x{})", alike) : "");
    node = end;
  }
  return text;
}

}  // namespace

std::vector<Environment> rank_environments(const std::vector<Placement>& placements,
                                           const Rendezvous& rendezvous,
                                           const Plan& plan) {
  constexpr std::pair<const char*, decltype(&add_pytorch)> k_families[] = {
      {"torch", add_pytorch},
      {"tensorflow", add_tensorflow},
      {"jax", add_jax},
      {"horovod", add_horovod},
      {"sagemaker", add_sagemaker}};
  const bool shows_nodes = plan.gpu_view == "node";
  const World world(
      placements, rendezvous, shows_nodes ? gpus_of_nodes(placements) : GpusOfNodes());
  const unsigned workers = plan.workers_per_task;
  const std::string backend = workers > 0 ? backend_without_endpoint(plan.command) : "";
  std::vector<Environment> all;
  all.reserve(placements.size());
  for (const Placement& rank : placements) {
    Environment& variables = all.emplace_back();
    for (const auto& [framework, add] : k_families)
      if (std::find(plan.frameworks.begin(), plan.frameworks.end(), framework) !=
          plan.frameworks.end())
        add(variables, world, rank);
    if (workers > 0) add_torchrun(variables, world, rank, workers, backend);
    add_libraries(variables, world, rank, plan);
  }
  return all;
}

std::string value_of(const Environment& variables, std::string_view name) {
  const auto found = std::find_if(variables.begin(), variables.end(), [&](const auto& variable) {
    return variable.first == name;
  });
  return found == variables.end() ? "" : found->second;
}

std::vector<Environment> slurm_step_variables(const std::vector<Placement>& placements) {
  std::map<unsigned, std::string> names;  // by node rank
  for (const Placement& one : placements) names[one.node_rank] = one.node;
  std::vector<std::string> in_order;
  for (const auto& [node, name] : names) in_order.push_back(name);
  const std::string list = fold_hostlist(in_order);
  const std::string ranks = std::to_string(placements.size());
  const std::string nodes = std::to_string(names.size());
  const std::string of_nodes = ranks_of_nodes(placements);
  std::vector<Environment> all;
  all.reserve(placements.size());
  for (const Placement& own : placements)
    all.push_back({{"SLURM_PROCID", std::to_string(own.rank)},
                   {"SLURM_LOCALID", std::to_string(own.local_rank)},
                   {"SLURM_NODEID", std::to_string(own.node_rank)},
                   {"SLURM_NTASKS", ranks},
                   {"SLURM_NPROCS", ranks},
                   {"SLURM_STEP_NUM_TASKS", ranks},
                   {"SLURM_NNODES", nodes},
                   {"SLURM_STEP_NUM_NODES", nodes},
                   // Not those of a job that also has spare nodes, or nodes that have failed.
                   {"SLURM_JOB_NUM_NODES", nodes},
                   {"SLURM_JOB_NODELIST", list},
                   {"SLURM_NODELIST", list},
                   {"SLURM_STEP_NODELIST", list},
                   {"SLURM_TASKS_PER_NODE", of_nodes},
                   {"SLURM_STEP_TASKS_PER_NODE", of_nodes},
                   {"SLURM_NTASKS_PER_NODE", std::to_string(own.local_world_size)},
                   // submitit's JobEnvironment reads the above only if this says so.
                   {"SUBMITIT_EXECUTOR", "slurm"}});
  return all;
}

}  // namespace dts::plan
