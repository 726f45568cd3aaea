// SPDX-License-Identifier: Apache-2.0
// `dttrain bench`: the measurements of `dtsubmit check`.
#pragma once

#include <string>
#include <vector>

namespace dts::train::bench {

// Runs the whole program, alone or as one of several ranks, and returns the exit code. May be
// called once per process, because it starts MPI.
[[nodiscard]] int bench_main(const std::vector<std::string>& arguments);

}  // namespace dts::train::bench
