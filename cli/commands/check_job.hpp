// SPDX-License-Identifier: Apache-2.0
// The measuring job of `dtsubmit check`: `dttrain bench` on the nodes to check, submitted or
// started by mpirun, with its progress on standard error.
#pragma once

#include "cli/commands/check_nodes.hpp"
#include "cli/commands/job_options.hpp"
#include "core/base/os/environment.hpp"
#include "core/base/result.hpp"

#include <optional>
#include <string>
#include <vector>

namespace dts::cli {

enum class Place {
  submitted,  // `dtsubmit submit --wait`
  nodes,      // mpirun, on --hosts or on the nodes of our own allocation
  here,       // no launcher: one rank on this machine
};

struct Measuring {
  Place place = Place::here;
  std::vector<std::string> words;  // options for `dtsubmit submit`
  std::vector<std::string> bench;  // options for `dttrain bench`
  bool quick = false;
  MeasuredNodes nodes;  // for Place::nodes
  std::string runs;     // for Place::nodes: the folder whose disk is measured as "run"
};

struct MeasuredJob {
  std::optional<std::string> facts;  // text of check.json; nullopt: the job failed and reported why
  std::string run;                   // run directory of the submitted job
  int exit_code = 0;                 // the job's; not 0: the measurements are incomplete
};

// Where a check with these options runs. In an allocation (SLURM_JOB_NODELIST in `lookup`), it runs
// on the allocation's nodes, or on as many as --nodes says. Errc::usage for options that have no
// meaning there.
[[nodiscard]] Result<Measuring> plan_measuring(const JobOptions& options,
                                               bool here,
                                               bool quick,
                                               const std::vector<std::string>& bench,
                                               const Lookup& lookup);

// Runs the job to its end. On a signal, ends the job: Errc::interrupted. Errc::io if the job
// succeeded but left no readable check.json.
[[nodiscard]] Result<MeasuredJob> measure(const Measuring& measuring);

}  // namespace dts::cli
