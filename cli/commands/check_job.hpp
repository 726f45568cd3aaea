// SPDX-License-Identifier: Apache-2.0
// The measuring job of `dtsubmit check`: `dttrain bench` on the nodes in question, submitted or
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
  nodes,      // mpirun, on --hosts or on the nodes of the allocation we are in
  here,       // no launcher: one rank on this machine
};

struct Measuring {
  Place place = Place::here;
  std::vector<std::string> words;  // options for `dtsubmit submit`
  std::vector<std::string> bench;  // options for `dttrain bench`
  bool quick = false;
  MeasuredNodes nodes;  // of Place::nodes
  std::string runs;     // of Place::nodes: the folder whose disk is that of runs
};

struct MeasuredJob {
  std::optional<std::string> facts;  // text of check.json; nullopt: the job failed, as it has said
  std::string run;                   // run directory of a submitted job
  int exit_code = 0;                 // of the job; not 0: not all of it was measured
};

// Where a check with these options runs: in an allocation (SLURM_JOB_NODELIST in `lookup`) on its
// nodes, or as many as --nodes says. Errc::usage for options that mean nothing there.
[[nodiscard]] Result<Measuring> plan_measuring(const JobOptions& options,
                                               bool here,
                                               bool quick,
                                               const std::vector<std::string>& bench,
                                               const Lookup& lookup);

// Runs it to its end. On a signal, ends the job: Errc::interrupted. Errc::io if it has left no
// readable check.json although it succeeded.
[[nodiscard]] Result<MeasuredJob> measure(const Measuring& measuring);

}  // namespace dts::cli
