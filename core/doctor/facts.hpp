// SPDX-License-Identifier: Apache-2.0
// The facts from which `dtsubmit doctor` derives its answers: site, job and this machine. Plain
// data.
#pragma once

#include "core/doctor/probed.hpp"
#include "core/sched/scheduler.hpp"

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace dts::doctor {

struct Job {
  unsigned nodes = 1;
  unsigned gpus_per_node = 0;
  bool requeue = true;
  bool is_bound = true;                      // dtsubmit binds its ranks to cores
  std::string launcher = "auto";             // value of --launcher
  std::optional<std::chrono::seconds> time;  // requested limit; seconds::max(): unlimited
  std::chrono::seconds margin{0};            // warning time before the time limit; 0: no warning
  std::uint64_t elements = 0;                // of its array or sweep; 0: it has none
  std::string qos;                           // requested QOS; empty: the user's default
  std::chrono::seconds start_timeout{120};   // for ranks to report in
  bool starts_by_ssh = false;                // its program starts others through ssh: deepspeed
};

// What `ompi_info` and the PMIx library report about this machine's Open MPI.
struct OpenMpi {
  std::string release{};            // "4.1.4"; empty: none, or not known
  std::vector<std::string> pmix{};  // its components for PMIx: "ext3x", or "s2" for PMI-2; none
                                    // from release 5 on, where PMIx is built in
  std::string pmix_release{};       // "4.2.2"; empty: not known
};

// The machine from which the job is submitted.
struct Machine {
  std::string mpirun;  // "mpirun (Open MPI) 4.1.4"; empty: not installed here
  OpenMpi open_mpi{};
  std::string srun_mpi;  // the output of `srun --mpi=list`; empty: not known
  std::string runs;      // the folder of run directories
  // The file system type of `runs` if only processes of this machine see it ("tmpfs"); empty:
  // shared, or not known.
  std::string local_type;
  std::optional<std::uint64_t> memlock;  // bytes of RLIMIT_MEMLOCK; absent: unlimited
};

struct Facts {
  sched::ConfigInfo site{};
  sched::Settings settings{};         // of the site; empty: not known
  sched::PartitionInfo partition{};   // the job's
  std::vector<sched::QosInfo> qos{};  // of the site; empty: none, or see qos_unknown
  std::optional<Probed> probed{};     // what a probe job found; absent: none was requested
  std::string qos_unknown{};          // why `qos` is not known: accounting does not answer
  Job job{};
  Machine machine{};
};

// The value of a site's setting; empty if it is not set or not known.
[[nodiscard]] std::string_view setting(const Facts& facts, std::string_view name);

// True if a setting, a comma-separated list, contains `item`, in any case of letters.
[[nodiscard]] bool lists(const Facts& facts, std::string_view name, std::string_view item);

// The number with which a setting begins: 30 for "30 sec".
[[nodiscard]] std::optional<std::uint64_t> number(const Facts& facts, std::string_view name);

// A setting that gives a time, "00:01:30".
[[nodiscard]] std::optional<std::chrono::seconds> time_in(const Facts& facts,
                                                          std::string_view name);

// The QOS of the job; nullptr: it has none, or it is not known.
[[nodiscard]] const sched::QosInfo* qos_of(const Facts& facts);

// Whether the scheduler's settings are known at all, since a plug-in need not report them.
[[nodiscard]] bool knows_settings(const Facts& facts);

}  // namespace dts::doctor
