// SPDX-License-Identifier: Apache-2.0
// The layout of a job, both before submission and inside the job. Pure: no I/O, no clock.
#pragma once

#include "core/base/diagnostics.hpp"
#include "core/base/text/hostlist.hpp"
#include "core/plan/cluster_view.hpp"
#include "core/spec/job_spec.hpp"
#include "core/topo/topology.hpp"

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace dts::plan {

// A decision and its reason, for `dtsubmit plan` and --dry-run.
struct Reason {
  std::string name;   // "ntasks-per-node"; from an earlier release: all of what()
  std::string value;  // "8"
  std::string why;    // "one rank per GPU"
  bool as_asked = false;

  // "ntasks-per-node = 8"
  [[nodiscard]] std::string what() const { return value.empty() ? name : name + " = " + value; }
};

// What the roles on the same nodes have of each node, by role.
struct SharedNodes {
  unsigned own = 0;  // the index of this plan's role in the lists
  // In proportion to which the node's cores are divided, at least 1; empty: they are not.
  std::vector<unsigned> cpus;
  std::vector<unsigned> gpus;  // in the order of the node's GPUs
  unsigned host = 0;           // the index among the job's roles of the one whose nodes they are
  bool is_guest = false;       // this plan's role is another one
};

struct Plan {
  std::string job_name;              // the spec's, otherwise derived from the program's name
  unsigned nodes = 1;                // nodes that ranks run on
  unsigned spares = 0;               // spare nodes, requested in addition
  std::vector<std::string> exclude;  // nodes to exclude
  unsigned ntasks_per_node = 1;
  unsigned gpus_per_node = 0;
  unsigned cpus_per_task = 1;
  unsigned world_size = 1;
  unsigned workers_per_task =
      0;  // processes that each task starts itself (torchrun); 0: it does not
  spec::Launcher launcher = spec::Launcher::automatic;  // resolved inside the job
  // For ssh: the hosts in rank order with their numbers of ranks (`ntasks_per_node` is then the
  // largest), and the command that reaches a host.
  std::vector<HostSlots> hosts;
  std::vector<std::string> ssh;
  std::vector<std::string> frameworks = spec::all_frameworks();  // whose variables ranks get
  std::string bind_threads = "none";                             // none, auto, gnu, intel
  std::string gpu_view = "auto";  // whose GPUs a rank's program sees: auto (resolved inside the
                                  // job), rank, node
  spec::Bind bind;
  unsigned smt = 0;             // hardware threads of each core that ranks get; 0: all
  unsigned cores_per_rank = 0;  // 0: as many as there are
  // How long before the time limit Slurm warns the agent (--signal). The spec's value, unless that
  // is the default and too long for the limit. 0: no warning.
  std::chrono::seconds signal_margin{0};
  std::vector<std::string> command;  // the program's argv, never empty
  std::vector<Reason> reasons;
  std::string srun_mpi{};        // value of srun's --mpi; empty: chosen for the linked MPI
  unsigned most_srun_ranks = 0;  // that srun starts on a node; 0: not known
  // For a role of a heterogeneous job: the index of its component.
  std::optional<unsigned> component{};
  bool hides_gpus = false;  // a part without GPUs in a job with some: its ranks see none
  std::optional<SharedNodes> shared{};  // absent: it has its nodes to itself
};

// What the plan's job needs of each of its nodes: for a role that shares them, all roles together.
[[nodiscard]] unsigned gpus_of_node(const Plan& plan);
[[nodiscard]] unsigned cpus_of_node(const Plan& plan);

// Layout of `spec`; reports every problem at once. If `cluster` is known, refuses what cannot run:
// an unknown partition, or more nodes, GPUs or cores per node than exist. `trainer` is the path of
// the bundled trainer, used if the spec has no command.
[[nodiscard]] tl::expected<Plan, Diagnostics> make_plan(const spec::JobSpec& spec,
                                                        const ClusterView& cluster,
                                                        const std::string& trainer);

// --- inside the job -----------------------------------------------------------------------------

// What a rank reports about itself; the agent collects one per rank.
struct RankHello {
  unsigned rank = 0;
  unsigned world_size = 1;
  unsigned local_rank = 0;           // as the launcher gave it
  std::string node;                  // SLURMD_NODENAME, otherwise the host name
  std::vector<std::string> gpu_ids;  // CUDA_VISIBLE_DEVICES it inherited, split; empty: not set
  // SLURM_STEP_GPUS or SLURM_JOB_GPUS: the same GPUs by the node's numbers; empty: not set.
  std::vector<unsigned> gpu_numbers{};
};

// Where the pages of a rank's program come from (set_mempolicy(2)).
struct MemoryPolicy {
  enum class Kind {
    none,    // the kernel's default: the node of the core that first touches a page
    prefer,  // these nodes while they have free memory
    bind,    // these nodes only
  };

  Kind kind = Kind::none;
  std::vector<unsigned> nodes;  // OS indices of NUMA nodes, ascending; empty for none

  bool operator==(const MemoryPolicy&) const = default;
};

// "none", "prefer 0" or "bind 0-3,8"; memory_policy_from() returns nullopt for any other text.
[[nodiscard]] std::string to_text(const MemoryPolicy& policy);
[[nodiscard]] std::optional<MemoryPolicy> memory_policy_from(std::string_view text);

// A link without PCI between the GPUs of two ranks of a node.
struct RankLink {
  unsigned local_rank = 0;  // the other rank
  unsigned weight = 0;      // of the best link between the two, see topo::GpuLink
};

struct Placement {
  unsigned rank = 0;
  unsigned local_rank = 0;
  unsigned local_world_size = 1;
  unsigned node_rank = 0;
  std::string node;
  unsigned cores = 1;          // physical cores behind `cpus`; at least 1
  unsigned home_cores = 0;     // how many of these are near its GPUs, for its own threads; 0: all
  std::vector<unsigned> cpus;  // OS indices of PUs, ascending; empty: topology unknown, do not bind
  std::vector<unsigned> first_cpus;  // first PU of each core in `cpus`, in the order of the cores
  std::vector<std::string> gpus;     // value(s) for CUDA_VISIBLE_DEVICES; empty: none requested
  std::vector<std::string> nics;     // ports for this rank, "mlx5_0:1"; empty: the library chooses
  MemoryPolicy memory;
  std::vector<RankLink> links{};  // to other ranks of the node, by local rank; empty: none known
};

// Refuses (Errc::invalid, each problem named) a set of ranks that is not 0..W-1 with one W,
// duplicate ranks, a node with more ranks than planned (Slurm's 15 + 1 packing), and a node with
// more ranks than GPUs if GPUs were requested.
[[nodiscard]] Result<void> verify_ranks(const std::vector<RankHello>& hellos, const Plan& plan);

struct PlacedRanks {
  std::vector<Placement> ranks;    // in rank order
  std::vector<std::string> notes;  // reasons and warnings of the nodes' bindings, equal ones merged
  // GPUs that ranks have although they are not of the requested type, by node: indices in
  // NodeTopology::gpus, ascending.
  std::map<std::string, std::vector<unsigned>> other_gpus;
};

// One placement per rank, by bind_node() under the plan's policy. `topologies` are given by node
// name. On a node without one, nothing is bound, and local rank i of n gets the i-th run of its
// GPUs. GPUs can be located if their numbers cover all GPUs of the node, or if Slurm reports their
// numbers. GPUs of type `gpu_type` are preferred among those that ranks may use (gpus_by_type()).
// Node ranks follow each node's lowest rank; local ranks follow the launcher's order.
// Errc::invalid, naming the node, if it cannot satisfy the policy. Precondition: verify_ranks()
// passed.
[[nodiscard]] Result<PlacedRanks> place_ranks(
    const std::vector<RankHello>& hellos,
    const Plan& plan,
    const std::map<std::string, topo::NodeTopology>& topologies,
    const std::string& gpu_type = {});

// Where ranks meet, as measured before any program starts.
struct Rendezvous {
  std::string master_addr;
  unsigned master_port = 0;
  std::vector<std::string> hosts;      // by node rank: the address by which other nodes reach it
  std::vector<unsigned> worker_ports;  // of `hosts`, if equal on all nodes; otherwise empty
  std::string interface;               // of `hosts`, if the same on every node; otherwise empty
  std::string hcas;                    // shared_hcas()
};

// The InfiniBand or RoCE ports that a job over these nodes should use, "mlx5_0:1,mlx5_3:1". If the
// lists differed between nodes, some would wait forever, so only ports active on every node count;
// of these, the best_network(), which excludes ports for storage and management. Empty: no such
// port, a single node, or a node with Slingshot or EFA, which NCCL reaches through a plug-in.
[[nodiscard]] std::string shared_hcas(const std::map<std::string, topo::NodeTopology>& nodes);

using Environment = std::vector<std::pair<std::string, std::string>>;

// The value of a variable; empty if it is not set.
[[nodiscard]] std::string value_of(const Environment& variables, std::string_view name);

// The variables that each rank's program gets on top of its own environment, by rank and in the
// order they are set; dtsubmit-environment(7) gives the source of each. DTSUBMIT_* is not included:
// those variables name files and belong to launch. A list of all workers or hosts that would be too
// long is omitted. Precondition: `placements` in rank order, `rendezvous` complete. Of `plan`, only
// its frameworks are read; gpu_view, where auto is rank; with workers_per_task also torchrun's own
// PET_* and each worker's share of threads; threads_on_cores() if bind_threads names a runtime
// (with auto, the rank decides).
[[nodiscard]] std::vector<Environment> rank_environments(const std::vector<Placement>& placements,
                                                         const Rendezvous& rendezvous,
                                                         const Plan& plan);

// The variables by which W&B and MLflow continue one record: one id for all attempts of the run,
// with the rank appended unless it is 0, since no two processes may write to the same W&B run
// (W&B's guide, "Resume a run"). MLflow gets tags instead, because only its server creates ids
// (`mlflow.tracking.context`). `run_name` is the name of the run directory, `job_name` the one that
// users see.
[[nodiscard]] Environment tracker_variables(const std::string& run_name,
                                            const std::string& job_name,
                                            unsigned rank);

// The variables in which srun gives each rank's place (srun(1), OUTPUT ENVIRONMENT VARIABLES), for
// programs that read them. The same variables of mpirun's daemon describe the daemon's own step,
// which has one task per node, and not the rank. `placements` and the result are in rank order.
[[nodiscard]] std::vector<Environment> slurm_step_variables(
    const std::vector<Placement>& placements);

using IsSet = std::function<bool(const std::string& name)>;

// True if the variable is only advice (NCCL_*, GLOO_*, UCX_*, OMP_NUM_THREADS, thread places) and
// the user has set it, or another one with the same purpose. Then the user's value is kept.
[[nodiscard]] bool is_overridden(std::string_view name, const IsSet& is_set);

// True for names that must not leak from a submitter's session into a job: SLURM_*, SBATCH_*,
// SRUN_*, OMPI_*, PMIX_*, PMI_*, PRTE_*, MV2_COMM_WORLD_*, torchrun's PET_* and TORCHELASTIC_*, and
// the rank variables themselves. SLURM_CONF and SLURM_CONF_SERVER are kept: they identify the
// cluster, not the job; so are the parameters of Open MPI that choose how processes are connected
// (OMPI_MCA_btl, _pml, ...).
[[nodiscard]] bool is_leaky_variable(std::string_view name);

// What a rank is told besides variables with leaky names, such as OMP_NUM_THREADS and WANDB_RUN_ID,
// is recorded in this variable: a job that the rank's program submits must not take it for settings
// of the user.
inline constexpr const char* k_advice_variable = "DTSUBMIT_ADVICE";
[[nodiscard]] Environment::value_type advice_of_rank(const Environment& variables);

// True if the variable `entry` ("NAME=value") is one of those recorded in `advice`, and unchanged.
[[nodiscard]] bool is_advice(std::string_view entry, std::string_view advice);

// True for advice that also holds for a run that the rank's program starts within the same job: its
// GPUs, and the job's end.
[[nodiscard]] bool holds_for_nested_run(std::string_view name);

// Ports to try, in order, for MASTER_PORT, or for a rank's own server if the rank's name is
// appended to `run`: above 1023, a permutation salted by run and attempt, at most `count`. Ports
// outside [ephemeral_low, ephemeral_high] come first. An outgoing connection can take a port inside
// before the program binds it, so those are only for hosts with too few others.
[[nodiscard]] std::vector<unsigned> master_port_candidates(const std::string& run,
                                                           unsigned attempt,
                                                           unsigned ephemeral_low,
                                                           unsigned ephemeral_high,
                                                           unsigned count);

// "12000-12003,12010", as in SLURM_STEP_RESV_PORTS, as a list of every port in order. Empty for any
// other text.
[[nodiscard]] std::vector<unsigned> parse_ports(std::string_view text);

}  // namespace dts::plan
