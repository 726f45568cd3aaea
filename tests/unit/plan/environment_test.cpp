// SPDX-License-Identifier: Apache-2.0
// What a rank's program is told, for every framework at once, and what it must not inherit.
#include "core/base/text/text.hpp"
#include "core/plan/plan.hpp"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <map>
#include <set>

namespace dts::plan {
namespace {

using nlohmann::json;
using Variables = std::map<std::string, std::string>;

// `per_node` ranks on each of n0, n1, ... in order; each has three cores and `gpus` GPUs.
std::vector<Placement> placements(const std::vector<unsigned>& per_node, unsigned gpus = 0) {
  std::vector<Placement> all;
  for (unsigned node = 0; node < per_node.size(); ++node)
    for (unsigned local = 0; local < per_node[node]; ++local) {
      Placement& one = all.emplace_back();
      one.rank = static_cast<unsigned>(all.size() - 1);
      one.local_rank = local;
      one.local_world_size = per_node[node];
      one.node_rank = node;
      one.node = "n" + std::to_string(node);
      one.cores = 5;
      one.home_cores = 3;
      one.nics = {"mlx5_" + std::to_string(local) + ":1"};
      one.first_cpus = {6 * local, 6 * local + 2, 6 * local + 4};
      for (unsigned gpu = 0; gpu < gpus; ++gpu)
        one.gpus.push_back(std::to_string(local * gpus + gpu));
    }
  return all;
}

// Node n is 10.0.0.n and rank r holds port 20000 + r.
Rendezvous meeting(const std::vector<Placement>& all) {
  Rendezvous where{"10.0.0.0", 29000, {}, {}, "eth0", "mlx5_0:1,mlx5_2:1"};
  for (const Placement& one : all) {
    if (where.hosts.size() <= one.node_rank)
      where.hosts.push_back("10.0.0." + std::to_string(one.node_rank));
    where.worker_ports.push_back(20000 + one.rank);
  }
  return where;
}

std::string value(const Environment& variables, const std::string& name) {
  for (const auto& [one, text] : variables)
    if (one == name) return text;
  return "(none)";
}

std::set<std::string> words(const std::string& text) {
  const std::vector<std::string> list = split(text, ' ');
  return {list.begin(), list.end()};
}

std::vector<Variables> variables(const std::vector<Placement>& all, const Rendezvous& where) {
  std::vector<Variables> found;
  for (const Environment& one : rank_environments(all, where, {})) {
    found.emplace_back(one.begin(), one.end());
    CHECK(found.back().size() == one.size());  // no name twice
  }
  return found;
}

}  // namespace

TEST_CASE("a rank's environment, all of it, in the order it is set") {
  const auto all = placements({2, 2}, 2);
  const Environment expected = {
      {"RANK", "3"},
      {"WORLD_SIZE", "4"},
      {"LOCAL_RANK", "1"},
      {"LOCAL_WORLD_SIZE", "2"},
      {"NODE_RANK", "1"},
      {"GROUP_RANK", "1"},
      {"MASTER_ADDR", "10.0.0.0"},
      {"MASTER_PORT", "29000"},
      {"TF_CONFIG",
       R"({"cluster":{"worker":["10.0.0.0:20000","10.0.0.0:20001","10.0.0.1:20002","10.0.0.1:20003"]},)"
       R"("task":{"type":"worker","index":3}})"},
      {"JAX_COORDINATOR_ADDRESS", "10.0.0.0:20000"},
      {"JAX_NUM_PROCESSES", "4"},
      {"JAX_PROCESS_ID", "3"},
      {"JAX_LOCAL_DEVICE_IDS", "0,1"},
      {"HOROVOD_RANK", "3"},
      {"HOROVOD_SIZE", "4"},
      {"HOROVOD_LOCAL_RANK", "1"},
      {"HOROVOD_LOCAL_SIZE", "2"},
      {"HOROVOD_CROSS_RANK", "1"},
      {"HOROVOD_CROSS_SIZE", "2"},
      {"SM_HOSTS", R"(["10.0.0.0","10.0.0.1"])"},
      {"SM_CURRENT_HOST", "10.0.0.1"},
      {"SM_NUM_GPUS", "2"},
      {"NCCL_SOCKET_IFNAME", "=eth0"},
      {"GLOO_SOCKET_IFNAME", "eth0"},
      {"NCCL_IB_HCA", "=mlx5_0:1,mlx5_2:1"},
      {"UCX_NET_DEVICES", "mlx5_1:1"},
      {"OMP_NUM_THREADS", "3"},
      {"CUDA_VISIBLE_DEVICES", "2,3"},
      {"CUDA_DEVICE_ORDER", "PCI_BUS_ID"}};
  CHECK(rank_environments(all, meeting(all), {}).at(3) == expected);
  CHECK(rank_environments(all, meeting(all), {}) == rank_environments(all, meeting(all), {}));
  for (const auto& [name, value] : expected)
    if (!is_overridden(name, [](const std::string&) { return true; }) &&
        name.rfind("CUDA_", 0) != 0)
      CHECK(is_leaky_variable(name));
}

TEST_CASE("every framework reads the same ranks, for every layout") {
  for (const std::vector<unsigned>& per_node : std::vector<std::vector<unsigned>>{
           {1}, {4}, {2, 2}, {4, 4}, {8, 8, 8}, {3, 1}, {1, 3}, {2, 1, 3}}) {
    const auto all = placements(per_node);
    const auto seen = variables(all, meeting(all));
    REQUIRE(seen.size() == all.size());
    std::map<std::string, std::set<std::string>> cross;  // by local rank
    for (unsigned rank = 0; rank < all.size(); ++rank) {
      CAPTURE(rank);
      Variables of = seen[rank];
      const std::string number = std::to_string(rank), size = std::to_string(all.size());
      for (const char* name : {"RANK", "JAX_PROCESS_ID", "HOROVOD_RANK"}) CHECK(of[name] == number);
      for (const char* name : {"WORLD_SIZE", "JAX_NUM_PROCESSES", "HOROVOD_SIZE"})
        CHECK(of[name] == size);
      CHECK(of["HOROVOD_LOCAL_RANK"] == of["LOCAL_RANK"]);
      CHECK(of["HOROVOD_LOCAL_SIZE"] == of["LOCAL_WORLD_SIZE"]);
      const json tensorflow = json::parse(of["TF_CONFIG"]);
      const auto workers = tensorflow["cluster"]["worker"].get<std::vector<std::string>>();
      CHECK(std::set<std::string>(workers.begin(), workers.end()).size() == all.size());
      CHECK(tensorflow["task"] == json{{"type", "worker"}, {"index", rank}});
      CHECK(of["JAX_COORDINATOR_ADDRESS"] == workers[0]);
      CHECK(of["JAX_COORDINATOR_ADDRESS"] != of["MASTER_ADDR"] + ":" + of["MASTER_PORT"]);
      const auto hosts = json::parse(of["SM_HOSTS"]).get<std::vector<std::string>>();
      CHECK(hosts.size() == per_node.size());
      CHECK(hosts[all[rank].node_rank] == of["SM_CURRENT_HOST"]);
      CHECK(workers[rank].rfind(of["SM_CURRENT_HOST"] + ":", 0) == 0);
      CHECK(of["SM_NUM_GPUS"] == "0");
      CHECK(of.count("CUDA_VISIBLE_DEVICES") + of.count("CUDA_DEVICE_ORDER") == 0);
      CHECK(of.count("JAX_LOCAL_DEVICE_IDS") == 0);
      CHECK(cross[of["LOCAL_RANK"]].insert(of["HOROVOD_CROSS_RANK"]).second);
    }
    for (const Variables& of : seen) {
      const auto& others = cross[of.at("LOCAL_RANK")];
      CHECK(of.at("HOROVOD_CROSS_SIZE") == std::to_string(others.size()));
      CHECK(std::stoul(of.at("HOROVOD_CROSS_RANK")) < others.size());
    }
  }
}

TEST_CASE("a cross rank counts only the nodes that have the local rank") {
  struct {
    std::vector<unsigned> per_node;
    unsigned rank;
    const char* cross_rank;
    const char* cross_size;
  } const table[] = {
      {{4}, 3, "0", "1"},
      {{3, 1}, 2, "0", "1"},
      {{3, 1}, 3, "1", "2"},
      {{1, 3}, 3, "0", "1"},
      {{2, 1, 3}, 4, "1", "2"},  // local rank 1 of the third node; the second has none
      {{2, 1, 3}, 3, "2", "3"},
      {{2, 1, 3}, 5, "0", "1"},
  };

  for (const auto& row : table) {
    CAPTURE(row.rank);
    const auto all = placements(row.per_node);
    Variables of = variables(all, meeting(all)).at(row.rank);
    CHECK(of["HOROVOD_CROSS_RANK"] == row.cross_rank);
    CHECK(of["HOROVOD_CROSS_SIZE"] == row.cross_size);
  }
}

TEST_CASE("GPUs of a rank are numbered from 0 for who counts inside CUDA_VISIBLE_DEVICES") {
  auto all = placements({3}, 1);
  all[1].gpus = {"GPU-a", "GPU-b", "GPU-c"};
  all[2].gpus = {};
  const auto seen = variables(all, meeting(all));
  CHECK(seen[0].at("JAX_LOCAL_DEVICE_IDS") == "0");
  CHECK(seen[0].at("SM_NUM_GPUS") == "1");
  CHECK(seen[1].at("CUDA_VISIBLE_DEVICES") == "GPU-a,GPU-b,GPU-c");
  CHECK(seen[1].at("JAX_LOCAL_DEVICE_IDS") == "0,1,2");
  CHECK(seen[1].at("SM_NUM_GPUS") == "3");
  CHECK(seen[2].count("CUDA_VISIBLE_DEVICES") == 0);
  CHECK(seen[2].at("SM_NUM_GPUS") == "0");
}

TEST_CASE("an IPv6 address stands in brackets before a port, and nowhere else") {
  const auto all = placements({1, 1});
  Rendezvous where = meeting(all);
  where.master_addr = "fd00::1";
  where.hosts = {"fd00::1", "fd00::2"};
  Variables of = variables(all, where).at(1);
  CHECK(of["MASTER_ADDR"] == "fd00::1");
  CHECK(of["JAX_COORDINATOR_ADDRESS"] == "[fd00::1]:20000");
  CHECK(json::parse(of["TF_CONFIG"])["cluster"]["worker"][1] == "[fd00::2]:20001");
  CHECK(of["SM_CURRENT_HOST"] == "fd00::2");
}

TEST_CASE("no interface has one name for all, or two nodes one address: nothing is claimed") {
  const auto all = placements({2, 2});
  Rendezvous where = meeting(all);
  where.interface.clear();
  where.hcas.clear();
  where.hosts = {"10.0.0.1", "10.0.0.1"};
  for (const Variables& of : variables(all, where))
    for (const char* name :
         {"NCCL_SOCKET_IFNAME", "GLOO_SOCKET_IFNAME", "NCCL_IB_HCA", "SM_HOSTS", "SM_CURRENT_HOST"})
      CHECK(of.count(name) == 0);
}

TEST_CASE("a list that is too long for a variable, or for every rank, is left out") {
  struct {
    unsigned nodes, per_node;
    bool tensorflow, sagemaker;
  } const table[] = {
      {100, 8, true, true}, {250, 8, false, true}, {2048, 8, false, false}, {1, 2000, false, true}};

  for (const auto& row : table) {
    CAPTURE(row.nodes);
    const auto all = placements(std::vector<unsigned>(row.nodes, row.per_node));
    Rendezvous where = meeting(all);
    for (std::string& host : where.hosts) host = "host-" + host + ".cluster";
    const auto environments = rank_environments(all, where, {});
    std::size_t bytes = 0;
    for (const Environment& one : environments)
      for (const auto& variable : one) {
        CHECK_MESSAGE(variable.second.size() < (std::size_t{66} << 10), variable.first);
        bytes += variable.first.size() + variable.second.size() + 2;
      }
    CHECK(bytes < (std::size_t{90} << 20));
    const Variables last(environments.back().begin(), environments.back().end());
    CHECK((last.count("TF_CONFIG") == 1) == row.tensorflow);
    CHECK((last.count("SM_HOSTS") == 1) == row.sagemaker);
    CHECK(last.count("SM_CURRENT_HOST") == last.count("SM_HOSTS"));
    CHECK(last.at("JAX_NUM_PROCESSES") == std::to_string(all.size()));
  }
}

TEST_CASE("what a user has set stays where ours is only advice, never for who a rank is") {
  struct {
    const char* ours;
    const char* set;
    bool stays;
  } const table[] = {
      {"NCCL_SOCKET_IFNAME", "NCCL_SOCKET_IFNAME", true},
      {"NCCL_IB_HCA", "NCCL_IB_HCA", true},
      {"GLOO_SOCKET_IFNAME", "GLOO_SOCKET_IFNAME", true},
      {"UCX_NET_DEVICES", "UCX_NET_DEVICES", true},
      {"UCX_NET_DEVICES", "NCCL_IB_HCA", false},
      {"OMP_NUM_THREADS", "OMP_NUM_THREADS", true},
      {"NCCL_SOCKET_IFNAME", "GLOO_SOCKET_IFNAME", false},
      {"OMP_NUM_THREADS", "OMP_PROC_BIND", false},
      {"GOMP_CPU_AFFINITY", "GOMP_CPU_AFFINITY", true},
      {"GOMP_CPU_AFFINITY", "KMP_AFFINITY", true},
      {"GOMP_CPU_AFFINITY", "OMP_PROC_BIND", true},
      {"KMP_AFFINITY", "OMP_PLACES", true},
      {"KMP_AFFINITY", "GOMP_CPU_AFFINITY", true},
      {"KMP_AFFINITY", "KMP_BLOCKTIME", false},
      {"OMP_PLACES", "KMP_AFFINITY", true},
      {"KMP_WARNINGS", "OMP_PLACES", true},
      {"KMP_WARNINGS", "KMP_WARNINGS", true},
      {"KMP_AFFINITY", "KMP_WARNINGS", false},
      {"GOMP_CPU_AFFINITY", "OMP_NUM_THREADS", false},
      {"RANK", "RANK", false},
      {"TF_CONFIG", "TF_CONFIG", false},
      {"JAX_PROCESS_ID", "JAX_PROCESS_ID", false},
      {"HOROVOD_RANK", "HOROVOD_RANK", false},
      {"SM_HOSTS", "SM_HOSTS", false},
      {"CUDA_VISIBLE_DEVICES", "CUDA_VISIBLE_DEVICES", false},
      {"OMP_NUM_THREADS_", "OMP_NUM_THREADS_", false},
      {"XNCCL_A", "XNCCL_A", false},
      {"", "", false},
  };

  for (const auto& row : table) {
    CAPTURE(std::string(row.ours));
    CAPTURE(std::string(row.set));
    CHECK(is_overridden(row.ours, [&](const std::string& name) { return name == row.set; }) ==
          row.stays);
  }
}

TEST_CASE("threads are bound for the runtime that was named, one to a core of the rank") {
  const auto all = placements({2});
  const auto bound = [&](const char* runtime, std::vector<unsigned> cpus) {
    auto ranks = all;
    ranks[1].first_cpus = std::move(cpus);
    Plan plan;
    plan.bind_threads = runtime;
    const Environment one = rank_environments(ranks, meeting(ranks), plan).at(1);
    return value(one, "GOMP_CPU_AFFINITY") + " / " + value(one, "KMP_AFFINITY");
  };
  CHECK(bound("none", {6, 8, 10}) == "(none) / (none)");
  CHECK(bound("gnu", {6, 8, 10}) == "6 8 10 / (none)");
  CHECK(bound("intel", {6, 8, 10}) == "(none) / granularity=fine,explicit,proclist=[6,8,10]");
  CHECK(bound("auto", {6, 8, 10}) == "(none) / (none)");  // the rank knows the program
  CHECK(bound("gnu", {}) == "(none) / (none)");           // topology unknown: the rank is not bound
  CHECK(bound("intel", {}) == "(none) / (none)");
}

TEST_CASE("--framework omits the variables of other frameworks, and nothing else") {
  const auto all = placements({1, 1}, 1);
  const std::map<std::string, std::string> families = {
      {"torch",
       "RANK WORLD_SIZE LOCAL_RANK LOCAL_WORLD_SIZE NODE_RANK GROUP_RANK MASTER_ADDR MASTER_PORT"},
      {"tensorflow", "TF_CONFIG"},
      {"jax", "JAX_COORDINATOR_ADDRESS JAX_NUM_PROCESSES JAX_PROCESS_ID JAX_LOCAL_DEVICE_IDS"},
      {"horovod",
       "HOROVOD_RANK HOROVOD_SIZE HOROVOD_LOCAL_RANK HOROVOD_LOCAL_SIZE HOROVOD_CROSS_RANK "
       "HOROVOD_CROSS_SIZE"},
      {"sagemaker", "SM_HOSTS SM_CURRENT_HOST SM_NUM_GPUS"}};
  const std::set<std::string> always = words(
      "NCCL_SOCKET_IFNAME GLOO_SOCKET_IFNAME NCCL_IB_HCA UCX_NET_DEVICES OMP_NUM_THREADS "
      "CUDA_VISIBLE_DEVICES CUDA_DEVICE_ORDER");
  REQUIRE(families.size() == spec::all_frameworks().size());
  for (unsigned chosen = 0; chosen < 1U << families.size(); ++chosen) {
    CAPTURE(chosen);
    Plan plan;
    plan.frameworks.clear();
    std::set<std::string> expected = always;
    unsigned bit = 0;
    for (const auto& [framework, names] : families) {
      if ((chosen >> bit++ & 1U) == 0) continue;
      plan.frameworks.push_back(framework);
      expected.merge(words(names));
    }
    std::set<std::string> names;
    const Environment one = rank_environments(all, meeting(all), plan).at(1);
    for (const auto& [name, text] : one) names.insert(name);
    CHECK(names == expected);
  }
}

TEST_CASE("what each library reads to know its ranks is all there, of one family alone") {
  struct {
    const char* family;
    const char* reads;
  } const table[] = {
      // torch/distributed/rendezvous.py, _env_rendezvous_handler
      {"torch", "RANK WORLD_SIZE MASTER_ADDR MASTER_PORT"},
      // deepspeed/comm/comm.py, init_distributed: else it looks for MPI by itself
      {"torch", "RANK WORLD_SIZE MASTER_ADDR MASTER_PORT LOCAL_RANK"},
      // accelerate/state.py, PartialState; without OMP_NUM_THREADS it sets its own
      {"torch",
       "RANK WORLD_SIZE LOCAL_RANK LOCAL_WORLD_SIZE MASTER_ADDR MASTER_PORT OMP_NUM_THREADS"},
      // lightning/fabric/plugins/environments/lightning.py
      {"torch", "LOCAL_RANK NODE_RANK GROUP_RANK MASTER_ADDR MASTER_PORT"},
      // tensorflow/python/distribute/cluster_resolver/tfconfig_cluster_resolver.py
      {"tensorflow", "TF_CONFIG"},
      // jax/_src/distributed.py; the other two are for the caller to pass on
      {"jax", "JAX_COORDINATOR_ADDRESS JAX_LOCAL_DEVICE_IDS"},
      // horovod/common/gloo/gloo_context.cc
      {"horovod",
       "HOROVOD_RANK HOROVOD_SIZE HOROVOD_LOCAL_RANK HOROVOD_LOCAL_SIZE HOROVOD_CROSS_RANK "
       "HOROVOD_CROSS_SIZE"},
      // sagemaker_training/params.py
      {"sagemaker", "SM_HOSTS SM_CURRENT_HOST SM_NUM_GPUS"},
  };

  const auto all = placements({2, 2}, 1);
  for (const auto& row : table) {
    Plan plan;
    plan.frameworks = {row.family};
    for (const Environment& one : rank_environments(all, meeting(all), plan))
      for (const std::string& name : words(row.reads))
        CHECK_MESSAGE(value(one, name) != "(none)", name);
  }
}

TEST_CASE("where home cores are not told apart, each core has a thread") {
  auto all = placements({1});
  all[0].home_cores = 0;
  CHECK(value(rank_environments(all, meeting(all), {}).at(0), "OMP_NUM_THREADS") == "5");
}

TEST_CASE("torchrun gets nodes, processes and rendezvous; its processes share the threads") {
  const auto all = placements({1, 1}, 3);
  Plan plan;
  plan.workers_per_task = 3;
  const Environment got = rank_environments(all, meeting(all), plan).at(1);
  CHECK(value(got, "PET_NNODES") == "2");
  CHECK(value(got, "PET_NODE_RANK") == "1");
  CHECK(value(got, "PET_NPROC_PER_NODE") == "3");
  CHECK(value(got, "PET_MASTER_ADDR") == value(got, "MASTER_ADDR"));
  CHECK(value(got, "PET_MASTER_PORT") == value(got, "MASTER_PORT"));
  CHECK(value(got, "NNODES") == "2");  // of llamafactory-cli and swift
  CHECK(value(got, "NPROC_PER_NODE") == "3");
  CHECK(value(got, "OMP_NUM_THREADS") == "1");  // of three home cores
  CHECK(value(got, "PET_RDZV_ENDPOINT") == "(none)");
  plan.command = {"torchrun", "--rdzv_backend=c10d", "train.py"};
  const auto dynamic = rank_environments(all, meeting(all), plan);
  CHECK(value(dynamic.at(1), "PET_RDZV_ENDPOINT") ==
        value(got, "MASTER_ADDR") + ":" + value(got, "MASTER_PORT"));
  CHECK(value(dynamic.at(0), "PET_RDZV_CONF") == "is_host=1");
  CHECK(value(dynamic.at(1), "PET_RDZV_CONF") == "is_host=0");
  plan.command = {"torchrun", "--rdzv-backend", "c10d", "--rdzv-endpoint", "n1:1", "train.py"};
  CHECK(value(rank_environments(all, meeting(all), plan).at(1), "PET_RDZV_CONF") == "(none)");
  const Environment without = rank_environments(all, meeting(all), {}).at(1);
  for (const auto& [name, text] : without) CHECK(name.rfind("PET_", 0) != 0);
}

TEST_CASE("variables of a session do not leak, the site's and the user's do") {
  for (const char* name : {"SLURM_JOB_ID",
                           "SBATCH_NO_REQUEUE",
                           "SRUN_DEBUG",
                           "OMPI_COMM_WORLD_RANK",
                           "PMIX_RANK",
                           "PMI_SIZE",
                           "PRTE_X",
                           "OMPI_MCA_ess_base_jobid",
                           "OMPI_MCA_orte_hnp_uri",
                           "OMPI_MCA_pmix",
                           "RANK",
                           "TF_CONFIG",
                           "HOROVOD_RANK",
                           "SM_HOSTS",
                           "MV2_COMM_WORLD_RANK",
                           "MPI_LOCALRANKID",
                           "DTSUBMIT_CHECKPOINT_EVERY",
                           "DTSUBMIT_STAGE_DIR",
                           "PET_NNODES",
                           "SUBMITIT_EXECUTOR",
                           "SUBMITIT_FOLDER",
                           "SUBMITIT_LOCAL_GLOBALID",
                           "TORCHELASTIC_RUN_ID"})
    CHECK(is_leaky_variable(name));
  for (const char* name : {"PATH",
                           "SLURM_CONF",
                           "OMPI_MCA_pml",
                           "OMPI_MCA_btl_tcp_if_include",
                           "SLURM_CONF_SERVER",
                           "SLURMD",
                           "RANKS",
                           "OMP_NUM_THREADS",
                           "HOROVOD_FUSION_THRESHOLD",
                           "SM_MODEL_DIR",
                           "JAX_PLATFORMS",
                           "CUDA_VISIBLE_DEVICES",
                           "",
                           "MY_SLURM_X"})
    CHECK_FALSE(is_leaky_variable(name));
}

TEST_CASE("a job that a rank submits does not take the rank's advice for its user's settings") {
  const auto all = placements({2}, 1);
  Environment rank = rank_environments(all, meeting(all), {}).at(1);
  for (auto& variable : tracker_variables("outer", "outer", 1)) rank.push_back(std::move(variable));
  const auto [name, advice] = advice_of_rank(rank);
  CHECK(is_leaky_variable(name));
  CHECK(is_advice("OMP_NUM_THREADS=3", advice));
  CHECK(is_advice("NCCL_SOCKET_IFNAME==eth0", advice));
  CHECK(is_advice("WANDB_RUN_ID=outer-1", advice));
  CHECK(is_advice("MLFLOW_RUN_CONTEXT=" + value(rank, "MLFLOW_RUN_CONTEXT"), advice));
  CHECK_FALSE(is_advice("OMP_NUM_THREADS=4", advice));  // the program has changed it
  CHECK_FALSE(is_advice("PATH=/bin", advice));
  CHECK_FALSE(is_advice("", ""));
  rank.emplace_back("CUDA_VISIBLE_DEVICES", "1");
  CHECK(is_advice("CUDA_VISIBLE_DEVICES=1", advice_of_rank(rank).second));
  CHECK(holds_for_nested_run("CUDA_VISIBLE_DEVICES"));
  CHECK_FALSE(holds_for_nested_run("OMP_NUM_THREADS"));
}

TEST_CASE("a run keeps its ids in W&B and MLflow, and no two ranks share one") {
  const std::string run = "train-20260102T030405-00ab12";
  const Environment first = tracker_variables(run, "train: big", 0);
  CHECK(value(first, "WANDB_RUN_ID") == run);
  CHECK(value(first, "WANDB_RUN_GROUP") == run);
  CHECK(value(first, "WANDB_RESUME") == "allow");
  CHECK(json::parse(value(first, "MLFLOW_RUN_CONTEXT")) ==
        json{{"mlflow.runName", "train: big"}, {"dtsubmit.run", run}});
  CHECK(value(tracker_variables(run, "train", 7), "WANDB_RUN_ID") == run + "-7");
  const std::string other(200, 'x');
  const std::string longest = value(tracker_variables(other + run, "train", 65534), "WANDB_RUN_ID");
  CHECK(longest.size() <= 64);
  CHECK(longest.ends_with(run + "-65534"));
  CHECK(is_overridden("WANDB_RUN_ID",
                      [](const std::string& name) { return name == "WANDB_RUN_ID"; }));
}

TEST_CASE("a rank's place in the words of srun") {
  const Environment variables = slurm_step_variables(placements({2, 2, 1})).at(3);
  CHECK(value(variables, "SLURM_PROCID") == "3");
  for (const char* own : {"SLURM_LOCALID", "SLURM_NODEID"}) CHECK(value(variables, own) == "1");
  CHECK(value(variables, "SLURM_NTASKS") == "5");
  CHECK(value(variables, "SLURM_NNODES") == "3");
  CHECK(value(variables, "SLURM_TASKS_PER_NODE") == "2(x2),1");
  for (const char* list : {"SLURM_STEP_NODELIST", "SLURM_JOB_NODELIST", "SLURM_NODELIST"})
    CHECK(value(variables, list) == "n[0-2]");
  CHECK(value(variables, "SLURM_JOB_NUM_NODES") == "3");
  CHECK(value(slurm_step_variables(placements({1})).at(0), "SLURM_STEP_TASKS_PER_NODE") == "1");
  CHECK(value(variables, "SUBMITIT_EXECUTOR") == "slurm");
}

}  // namespace dts::plan
