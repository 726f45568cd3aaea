// SPDX-License-Identifier: Apache-2.0
// The mpirun command that starts `dttrain bench` without asking a scheduler: on --hosts by ssh, and
// on the nodes of our own allocation. Pure except for PATH.
#pragma once

#include "core/base/os/environment.hpp"
#include "core/base/os/process.hpp"
#include "core/base/result.hpp"

#include <string>
#include <vector>

namespace dts::cli {

struct MeasuredNodes {
  std::vector<std::string> names;  // one rank on each, in this order
  std::vector<std::string> ssh;    // the ssh command; empty: the scheduler's own way is used
};

// Runs `words` on each of the nodes; the ranks' standard output goes to ours. `environment` is a
// scrubbed one (launch/job/successor.hpp); `lookup` has the variables of the allocation.
// Errc::not_found if Open MPI's mpirun is missing.
[[nodiscard]] Result<Command> mpirun_on(const MeasuredNodes& nodes,
                                        const std::vector<std::string>& words,
                                        std::vector<std::string> environment,
                                        const Lookup& lookup);

}  // namespace dts::cli
