// SPDX-License-Identifier: Apache-2.0
// Whether a launcher in the program's words fits the layout. Pure.
#pragma once

#include "core/plan/plan.hpp"
#include "core/plan/program/own_launcher.hpp"

namespace dts::plan {

// Appends a problem if the job would start the launcher more than once on a node, or on several
// nodes without giving it its node's rank: each instance would start as many processes as one
// should.
void check_own_launcher(const Plan& plan, const OwnLauncher& launcher, Diagnostics& problems);

}  // namespace dts::plan
