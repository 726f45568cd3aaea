// SPDX-License-Identifier: Apache-2.0
// What the user asked for. Plain data; absent means "not requested, let plan decide".
#pragma once

#include "core/spec/bind.hpp"
#include "core/spec/container.hpp"
#include "core/spec/launchers.hpp"

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace dts::spec {

// Frameworks whose variables can be set for a rank's program, in the order in which they are
// written.
[[nodiscard]] inline std::vector<std::string> all_frameworks() {
  return {"torch", "tensorflow", "jax", "horovod", "sagemaker"};
}

// JobSpec::chain: no limit.
inline constexpr unsigned k_endless_chain = 1000;

// Alternative ways to give a job's size; settle_size() converts them into numbers per node.
struct Totals {
  bool nodes_given = false;                // JobSpec::nodes is not the default
  std::optional<unsigned> ntasks;          // ranks of the job
  std::optional<unsigned> gpus;            // of the job
  std::optional<unsigned> gpus_per_task;   // for each rank
  std::optional<unsigned> ntasks_per_gpu;  // ranks that share one

  [[nodiscard]] bool any() const { return ntasks || gpus || gpus_per_task || ntasks_per_gpu; }
};

struct Part;

struct JobSpec {
  std::string job_name;                   // as Slurm allows them; empty: the program's
  unsigned nodes = 1;                     // >= 1
  std::optional<unsigned> gpus_per_node;  // 0 is allowed and means none
  std::string gpu_type;                   // type of all GPUs by the site's name, "a100"; empty: any
  std::optional<unsigned> ntasks_per_node;
  bool per_node = false;  // the program starts its node's processes itself
  bool per_rank = false;  // the program is a rank, even if it is known to start processes
  std::optional<unsigned> cpus_per_task;
  std::optional<unsigned> cpus_per_gpu;  // instead of cpus_per_task
  Totals totals;
  std::string partition;  // empty: the site's default
  std::string exclude;    // host list of nodes to avoid
  unsigned spares = 0;    // nodes requested in addition to `nodes` and kept in reserve
  // Options that only the scheduler reads, by sbatch's long names: {"account", "proj-1"}. A flag
  // has an empty value.
  std::map<std::string, std::string> slurm;
  std::map<std::string, std::string> slurm_site;  // likewise, options unknown to us
  std::string runs;   // folder of run directories, where the job is submitted; empty: "runs"
  std::string chdir;  // working folder of the job and its ranks; empty: where it is submitted
  // Links to the job's log: sbatch file name patterns, keyed by the option that gave them:
  // {"output", "logs/%x-%j.out"}.
  std::map<std::string, std::string> log_links;
  std::optional<std::chrono::seconds> time;  // seconds::max() is UNLIMITED
  std::optional<std::uint64_t> memory_mib;   // per node; 0 is all of it (--mem=0)
  bool requeue = true;
  // Stop this long before the time limit; 0: no warning signal.
  std::chrono::seconds signal_margin{120};
  std::string on;                      // what to do about each cause; empty: the defaults
  std::chrono::seconds time_total{0};  // of all attempts together; 0: no limit
  // No progress for this long is a hang; absent: learnt from the heartbeats; seconds::max(): never.
  std::optional<std::chrono::seconds> hang_timeout;
  Launcher launcher = Launcher::automatic;  // what starts the ranks
  std::string mpi;                          // srun --mpi; empty: as the program is linked
  std::string hosts;  // machines used without a scheduler, see expand_host_slots()
  std::vector<std::string> tolerances;      // of `dtsubmit check`: "memory=20"
  std::string ssh_command;                  // command instead of "ssh", split at blanks
  std::chrono::seconds start_timeout{120};  // for every rank to report in, and then to start
  std::chrono::seconds preflight{10};  // for the checks of each node before the start; 0: no checks
  bool log_timestamps = false;         // each line of a rank's log begins with its time
  std::vector<std::string> frameworks = all_frameworks();  // frameworks whose variables ranks get
  Bind bind;                                               // which cores ranks get
  unsigned smt = 0;                   // hardware threads per core that ranks get; 0: all
  unsigned cores_per_rank = 0;        // 0: as many as there are
  std::string bind_threads = "none";  // OpenMP runtime whose threads are bound: auto, gnu, intel
  std::string gpu_view = "auto";      // whose GPUs a rank's program sees: auto, rank, node
  bool strict_binding = false;        // fail if a rank is not bound as planned
  std::string checkpoints;            // glob(7) of the program's own; empty: the run directory's
  std::string resume;                 // arguments with which it continues, see resume_arguments()
  bool snapshot = false;              // attempts run in a copy of the files tracked by git
  std::string script_template;        // of the batch script, by name or file; empty: "sbatch"
  std::string interface;  // network interface for rendezvous; empty: the fastest of all nodes
  int stop_signal = 15;   // sent once to every program so that it saves and exits with 85
  Container container{};  // to run programs in
  std::vector<std::string> stage{};  // copied to each node's local disk, parse_stage_item()
  // Run once per node, before the first program of a rank and after the last; see set_up_script().
  std::vector<std::string> modules;
  std::string conda;
  std::string venv;
  std::vector<std::string> setup;     // files or lines of bash
  std::vector<std::string> teardown;  // likewise
  std::vector<std::string> ulimits;   // of each program, parse_resource_limit()
  std::string umask;                  // octal; empty: unchanged
  std::vector<std::string> sweep;     // parameters with their values, see core/sweep
  std::vector<std::string> after;     // runs to wait for, parse_after()
  unsigned chain = 0;      // maximum number of jobs of the run, with one waiting; 0: no job waits
  std::string sweep_mode;  // how to combine the parameters of a sweep; empty: grid
  std::vector<std::string> command;  // argv of the program; empty: the bundled trainer
  // Instead of a command: programs run one after another, or side by side; at most one of the two
  // is not empty. See resolve_parts().
  std::vector<Part> steps;
  std::vector<Part> roles;
  bool heterogeneous = false;  // each role requests its own kind of nodes, as a component
};

enum class OnFailure {
  all,    // the roles end and restart together
  alone,  // only this role restarts, while the others keep running
  none,   // the same, and if it fails for good, the others still keep running
};

// One program of a multi-program job, with its own layout.
struct Part {
  std::string name;
  std::string given;       // JSON object with the part's own options; the job's apply to all others
  bool is_stored = false;  // `given` uses the spelling of spec.json, not that of users
  std::chrono::seconds time{0};           // total for all its attempts; 0: no limit
  OnFailure on_failure = OnFailure::all;  // of a role
  bool until_others_end = false;          // a role that never ends by itself, such as a server
  std::string waits_for{};  // a role begins when this one listens at its port; empty: at once
  std::string beside{};     // a role that shares the nodes of this one; empty: it has its own
  bool has_unreadable_keys = false;  // which `given` lacks
  JobSpec job{};                     // the part as a job of its own
};

}  // namespace dts::spec
