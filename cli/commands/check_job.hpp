// SPDX-License-Identifier: Apache-2.0
// The measuring job of `dtsubmit check`: `dttrain bench` on the nodes in question, submitted or run
// by our own commands, with their progress on standard error.
#pragma once

#include "cli/commands/job_options.hpp"
#include "core/base/result.hpp"

#include <optional>
#include <string>
#include <vector>

namespace dts::cli {

enum class Place {
  submitted,  // `dtsubmit submit --wait`
  hosts,      // `dtsubmit run`, on --hosts or on the nodes of the allocation we are in
  here,       // no launcher: one rank on this machine
};

struct Measuring {
  Place place = Place::here;
  std::vector<std::string> words;  // options for the command of that place
  std::vector<std::string> bench;  // options for `dttrain bench`
  bool quick = false;
};

struct MeasuredJob {
  std::optional<std::string> facts;  // text of check.json; nullopt: the job failed, as it has said
  std::string run;                   // run directory; empty for Place::here
  int exit_code = 0;                 // of the job; not 0: not all of it was measured
};

// Where a check with these options runs, and the words that say so. `hosts`: the nodes of our
// allocation, empty outside of one. Pure.
[[nodiscard]] Measuring plan_measuring(const JobOptions& options,
                                       bool here,
                                       bool quick,
                                       const std::vector<std::string>& bench,
                                       const std::vector<std::string>& hosts);

// Runs it to its end. On a signal, ends the job: Errc::interrupted. Errc::io if it has left no
// readable check.json although it succeeded.
[[nodiscard]] Result<MeasuredJob> measure(const Measuring& measuring);

}  // namespace dts::cli
