// SPDX-License-Identifier: Apache-2.0
// Checks whether a launcher in the program's command line fits the layout. Pure.
#pragma once

#include "core/plan/plan.hpp"
#include "core/plan/program/own_launcher.hpp"

namespace dts::plan {

// Appends a problem if the job would start the launcher more than once per node, or
// on several nodes without its node rank: each instance would start as many
// processes as a single one should.
void check_own_launcher(const Plan& plan, const OwnLauncher& launcher, Diagnostics& problems);

// The problems of a launcher in a script that the job runs in each rank. Whether the script gets
// there is not known, and nothing can be inserted into it. `may_know_place`: the launcher may get
// its place from options or variables that the script does not show.
[[nodiscard]] Diagnostics problems_in_script(const Plan& plan,
                                             const OwnLauncher& launcher,
                                             bool may_know_place);

}  // namespace dts::plan
