// SPDX-License-Identifier: Apache-2.0
// What the user asked for. Plain data; absent means "not asked, let plan decide".
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

// Those that a rank's program can be told of, in the order in which they are written.
[[nodiscard]] inline std::vector<std::string> all_frameworks() {
  return {"torch", "tensorflow", "jax", "horovod", "sagemaker"};
}

// JobSpec::chain without a limit.
inline constexpr unsigned k_endless_chain = 1000;

// The size of a job as it can also be given; settle_size() turns it into numbers per node.
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
  std::string gpu_type;                   // of all GPUs, the site's name, "a100"; empty: any
  std::optional<unsigned> ntasks_per_node;
  bool per_node = false;  // the program starts its node's processes itself
  bool per_rank = false;  // the program is a rank, even where it is known to start processes
  std::optional<unsigned> cpus_per_task;
  std::optional<unsigned> cpus_per_gpu;  // instead of cpus_per_task
  Totals totals;
  std::string partition;  // empty: the site's default
  std::string exclude;    // host list of nodes not to run on
  unsigned spares = 0;    // nodes beside `nodes` that are asked for and kept in reserve
  // Options that only the scheduler reads, by sbatch's long names: {"account", "proj-1"}.
  // An empty value is that of a flag.
  std::map<std::string, std::string> slurm;
  std::map<std::string, std::string> slurm_site;  // the same, of options that we do not know
  std::string runs;   // folder of run directories, where the job is submitted; empty: "runs"
  std::string chdir;  // working folder of the job and its ranks; empty: where it is submitted
  // Links to the job's log, file name patterns of sbatch by the option that gave them: {"output",
  // "logs/%x-%j.out"}.
  std::map<std::string, std::string> log_links;
  std::optional<std::chrono::seconds> time;  // seconds::max() is UNLIMITED
  std::optional<std::uint64_t> memory_mib;   // per node; 0 is all of it (--mem=0)
  bool requeue = true;
  // Stop this long before the time limit; 0: no warning signal.
  std::chrono::seconds signal_margin{120};
  std::string on;                      // what is done about each cause; empty: the defaults
  std::chrono::seconds time_total{0};  // of all attempts together; 0: no limit
  // No progress for so long is a hang; absent: learnt from the beats; seconds::max(): never.
  std::optional<std::chrono::seconds> hang_timeout;
  Launcher launcher = Launcher::automatic;  // what starts the ranks
  std::string hosts;                        // machines without a scheduler, see expand_host_slots()
  std::string ssh_command;                  // words instead of "ssh", split at blanks
  std::chrono::seconds start_timeout{120};  // for every rank to say hello, and then to start
  std::chrono::seconds preflight{10};       // for the checks of each node before the start; 0: none
  bool log_timestamps = false;              // each line of a rank's log begins with its time
  std::vector<std::string> frameworks = all_frameworks();  // whose variables ranks get
  Bind bind;                                               // which cores ranks get
  unsigned smt = 0;                   // hardware threads of each core that ranks get; 0: all
  unsigned cores_per_rank = 0;        // 0: as many as there are
  std::string bind_threads = "none";  // OpenMP runtime whose threads are bound: auto, gnu, intel
  bool strict_binding = false;        // end where a rank is not bound as planned
  bool snapshot = false;              // attempts run in a copy of the files that git tracks
  std::string script_template;        // of the batch script, by name or file; empty: "sbatch"
  std::string interface;  // network interface that ranks meet on; empty: the fastest of all nodes
  int stop_signal = 15;   // sent once to every program to make it save and exit 85
  Container container{};  // that programs run in
  std::vector<std::string> stage{};  // copied to each node's own disk, parse_stage_item()
  // Once on each node, before any rank's program and after the last; see set_up_script().
  std::vector<std::string> modules;
  std::string conda;
  std::string venv;
  std::vector<std::string> setup;     // files or lines of bash
  std::vector<std::string> teardown;  // likewise
  std::vector<std::string> ulimits;   // of each program, parse_resource_limit()
  std::string umask;                  // octal; empty: as it is
  std::vector<std::string> sweep;     // parameters with their values, see core/sweep
  std::vector<std::string> after;     // runs to wait for, parse_after()
  unsigned chain = 0;                 // jobs of the run at most, one waiting; 0: none waits
  std::string sweep_mode;             // how they are combined; empty: grid
  std::vector<std::string> command;   // argv of the program; empty: the bundled trainer
  // Instead of a command: programs one after another, or side by side; only one of them is not
  // empty. See resolve_parts().
  std::vector<Part> steps;
  std::vector<Part> roles;
  bool heterogeneous = false;  // each role asks for nodes of its own kind, in one job of components
};

enum class OnFailure {
  all,    // the roles end, and begin again, together
  alone,  // this role is started again while the others run
};

// One program of a job of several, with a layout of its own.
struct Part {
  std::string name;
  std::string given;             // a JSON object: what it says of itself, the rest is the job's
  bool is_stored = false;        // `given` is spelt as in spec.json, not as people type
  std::chrono::seconds time{0};  // of all its attempts together; 0: no limit
  OnFailure on_failure = OnFailure::all;  // of a role
  bool until_others_end = false;          // a role that never ends by itself, a server
  JobSpec job{};                          // the part as a job of its own
};

}  // namespace dts::spec
