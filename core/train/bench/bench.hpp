// SPDX-License-Identifier: Apache-2.0
// `dttrain bench`: the measurements of `dtsubmit check`.
#pragma once

#include <string>
#include <vector>

namespace dts::train::bench {

// The whole program, alone or as one of several ranks; returns the exit code. Once per process: it
// starts MPI.
[[nodiscard]] int bench_main(const std::vector<std::string>& arguments);

}  // namespace dts::train::bench
