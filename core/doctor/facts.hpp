// SPDX-License-Identifier: Apache-2.0
// What `dtsubmit doctor` knows when it answers: the site, the job and this machine. Plain data.
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
  bool is_bound = true;                      // its ranks are bound to cores by dtsubmit
  std::string launcher = "auto";             // as --launcher spells it
  std::optional<std::chrono::seconds> time;  // asked for; seconds::max(): unlimited
  std::chrono::seconds margin{0};            // warned this long before the time limit; 0: never
  std::uint64_t elements = 0;                // of its array or sweep; 0: neither
  std::string qos;                           // asked for; empty: the user's default
  std::chrono::seconds start_timeout{120};   // that ranks have to report in
  bool starts_by_ssh = false;                // its program starts others through ssh: deepspeed
};

// What `ompi_info` says of this machine's Open MPI, and its PMIx library of itself.
struct OpenMpi {
  std::string release{};            // "4.1.4"; empty: there is none, or it is not known
  std::vector<std::string> pmix{};  // its components for it: "ext3x", and "s2" for PMI-2; a release
                                    // from 5 on has none, for PMIx is part of it
  std::string pmix_release{};       // "4.2.2"; empty: not known
};

// Where the job is submitted.
struct Machine {
  std::string mpirun;  // "mpirun (Open MPI) 4.1.4"; empty: none here
  OpenMpi open_mpi{};
  std::string srun_mpi;  // the output of `srun --mpi=list`; empty: not known
  std::string runs;      // the folder of run directories
  // The type of its file system if processes of this machine alone see it ("tmpfs"); empty:
  // shared, or not known.
  std::string local_type;
  std::optional<std::uint64_t> memlock;  // bytes of RLIMIT_MEMLOCK; absent: unlimited
};

struct Facts {
  sched::ConfigInfo site{};
  sched::Settings settings{};         // of the site; empty: not known
  sched::PartitionInfo partition{};   // the job's
  std::vector<sched::QosInfo> qos{};  // of the site; empty: there is none, or see qos_unknown
  std::optional<Probed> probed{};     // by a job; absent: nobody asked for it
  std::string qos_unknown{};          // why they are not known: the accounting does not answer
  Job job{};
  Machine machine{};
};

// A setting of the site by its name; empty if it is not set or not known.
[[nodiscard]] std::string_view setting(const Facts& facts, std::string_view name);

// Whether a setting that is a list with commas has that item, in any case.
[[nodiscard]] bool lists(const Facts& facts, std::string_view name, std::string_view item);

// The number at the beginning of a setting, "30 sec".
[[nodiscard]] std::optional<std::uint64_t> number(const Facts& facts, std::string_view name);

// A setting that is a time, "00:01:30".
[[nodiscard]] std::optional<std::chrono::seconds> time_in(const Facts& facts,
                                                          std::string_view name);

// The job's; nullptr: it has none, or it is not known.
[[nodiscard]] const sched::QosInfo* qos_of(const Facts& facts);

// Whether the scheduler's settings are known at all: a plug-in need not report them.
[[nodiscard]] bool knows_settings(const Facts& facts);

}  // namespace dts::doctor
