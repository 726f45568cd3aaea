// SPDX-License-Identifier: Apache-2.0
// A fire drill: a fault on purpose, and what came of it.
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
  std::string why{};  // with problems, on a ground of our own: `dtsubmit why` of the run
  bool kept = false;  // and then run_directory outlives the ground
  Shown shown{};
  std::string digest{};                 // on a ground of our own: of the finished run
  std::string undisturbed{};            // and what it has to be
  std::vector<std::string> problems{};  // empty: as the policy says
  std::string skipped{};                // why it was not done, if it was not
};

// Drills a real run whose programs run: a job of the user's, or a `dtsubmit run` of this machine.
// Errors: invalid if the fault does not apply to such a run or nothing runs; those of the
// scheduler.
[[nodiscard]] Result<Report> drill_run(Fault fault,
                                       const Target& target,
                                       std::chrono::seconds limit);

// Drills a training on the private cluster, from its submission to its end. A drill whose run does
// not begin, or does not finish, is a report with a problem, and such a run is kept. Errors:
// interrupted.
[[nodiscard]] Result<Report> drill_on(Ground& ground, Fault fault, std::chrono::seconds limit);

}  // namespace dts::drill
