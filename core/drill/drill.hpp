// SPDX-License-Identifier: Apache-2.0
// A fire drill: injects a fault into a run and reports the result.
#pragma once

#include "core/drill/ground.hpp"
#include "core/drill/verdict.hpp"

#include <chrono>
#include <optional>
#include <string>
#include <vector>

namespace dts::drill {

struct Report {
  Fault fault{};
  std::string run_directory{};
  std::string why{};  // on a private cluster, if there are problems: the output of `dtsubmit why`
  bool kept = false;  // if true, run_directory outlives the ground
  Shown shown{};
  std::string digest{};                 // on a private cluster: digest of the finished run
  std::string undisturbed{};            // the digest that it must have
  std::vector<std::string> problems{};  // empty: the policy was kept
  std::string skipped{};                // why the drill was skipped, if it was
};

// Drills a real run whose programs are running: a user's job, or a `dtsubmit run` on this machine.
// Errors: invalid if the fault does not apply to such a run or no program runs, and those of the
// scheduler.
[[nodiscard]] Result<Report> drill_run(Fault fault,
                                       const Target& target,
                                       std::chrono::seconds limit);

// Drills a training on the private cluster, from its submission to its end. If the run does not
// begin or finish, the report has a problem and the run is kept. Errors: interrupted.
[[nodiscard]] Result<Report> drill_on(Ground& ground, Fault fault, std::chrono::seconds limit);

}  // namespace dts::drill
