// SPDX-License-Identifier: Apache-2.0
// mpirun, which starts `dttrain bench` where no scheduler has to be asked: on --hosts through ssh,
// and on the nodes of the allocation that we are in. Pure but for PATH.
#pragma once

#include "core/base/os/environment.hpp"
#include "core/base/os/process.hpp"
#include "core/base/result.hpp"

#include <string>
#include <vector>

namespace dts::cli {

struct MeasuredNodes {
  std::vector<std::string> names;  // one rank on each, in this order
  std::vector<std::string> ssh;    // the words that reach one; empty: the scheduler's own way
};

// `words` on each of the nodes, with what the ranks print on standard output on ours. `environment`
// is a scrubbed one (launch/job/successor.hpp); `lookup` has the variables of the allocation.
// Errc::not_found without Open MPI's mpirun.
[[nodiscard]] Result<Command> mpirun_on(const MeasuredNodes& nodes,
                                        const std::vector<std::string>& words,
                                        std::vector<std::string> environment,
                                        const Lookup& lookup);

}  // namespace dts::cli
