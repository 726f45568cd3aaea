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

struct JobSpec {
  std::string job_name;                   // safe name, see is_safe_name(); default: the program's
  unsigned nodes = 1;                     // >= 1
  std::optional<unsigned> gpus_per_node;  // 0 is allowed and means none
  std::optional<unsigned> ntasks_per_node;
  bool per_node = false;  // the program starts its node's processes itself
  bool per_rank = false;  // the program is a rank, even where it is known to start processes
  std::optional<unsigned> cpus_per_task;
  std::string partition;  // empty: the site's default
  std::string exclude;    // host list of nodes not to run on
  unsigned spares = 0;    // nodes beside `nodes` that are asked for and kept in reserve
  // Options that only the scheduler reads, by sbatch's long names: {"account", "proj-1"}.
  std::map<std::string, std::string> slurm;
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
  int stop_signal = 15;               // sent once to every program to make it save and exit 85
  Container container{};              // that programs run in
  // Once on each node, before any rank's program and after the last; see set_up_script().
  std::vector<std::string> modules;
  std::string conda;
  std::string venv;
  std::vector<std::string> setup;     // files or lines of bash
  std::vector<std::string> teardown;  // likewise
  std::vector<std::string> ulimits;   // of each program, parse_resource_limit()
  std::string umask;                  // octal; empty: as it is
  std::vector<std::string> command;   // argv of the program; empty: the bundled trainer
};

}  // namespace dts::spec
