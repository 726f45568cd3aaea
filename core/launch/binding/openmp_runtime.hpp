// SPDX-License-Identifier: Apache-2.0
// Which OpenMP runtimes a program is linked with: what its dynamic loader reports, without running
// it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace dts::launch {

// The members of plan::k_openmp_runtimes, in its order, whose files are named in `text`: the output
// of `ld.so --list`, or /proc/PID/maps. Python wheels add a suffix to such a name
// ("libgomp-a34b3233.so.1"). Pure.
[[nodiscard]] std::vector<std::string> runtimes_in(std::string_view text);

struct LinkedRuntimes {
  std::vector<std::string> names;  // from plan::k_openmp_runtimes
  std::string why_none;            // "is a script"; empty if there are some
};

// The runtimes of the program that argv[0] = `program` names. Those that LD_PRELOAD adds count only
// if the program itself is linked with one; otherwise it may still load others. Starts the dynamic
// loader, for 5 s at most. Thread-safe.
[[nodiscard]] LinkedRuntimes linked_runtimes(const std::string& program);

}  // namespace dts::launch
