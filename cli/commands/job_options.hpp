// SPDX-License-Identifier: Apache-2.0
// The options that describe a job, shared by `submit` and `run`.
#pragma once

#include "core/base/diagnostics.hpp"
#include "core/base/result.hpp"
#include "core/spec/job_spec.hpp"

#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace dts::cli {

struct JobOptions {
  spec::JobSpec spec;
  // As typed; parsed by make_spec(), so that all mistakes are reported together.
  std::string nodes, spares, smt, cores_per_rank, gpus_per_node, ntasks_per_node, cpus_per_task,
      time, time_total, hang_timeout, memory, signal_margin, start_timeout, preflight, stop_signal,
      frameworks;
  bool no_requeue = false;
  std::string runs;  // folder of run directories
};

// Options that hold with and without a scheduler, then those for machines without one, then those
// for a scheduler.
void add_job_options(CLI::App& verb, JobOptions& options);
void add_host_options(CLI::App& verb, JobOptions& options);
void add_scheduler_options(CLI::App& verb, JobOptions& options);

// What was asked for, and what of it could not be read. An option with a problem keeps its default,
// so that the rest can be looked at all the same.
struct Asked {
  spec::JobSpec spec;
  Diagnostics problems;
};

[[nodiscard]] Asked make_spec(const JobOptions& options, const std::vector<std::string>& command);

// The bundled trainer beside our own program.
[[nodiscard]] std::string trainer_path();

}  // namespace dts::cli
