// SPDX-License-Identifier: Apache-2.0
// Which OpenMP runtimes a program is linked with, according to its dynamic loader. The program is
// not run.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace dts::launch {

// The members of plan::k_openmp_runtimes, in its order, whose files are named in `text`, which is
// the output of `ld.so --list` or the content of /proc/PID/maps. Python wheels add a suffix to file
// names ("libgomp-a34b3233.so.1"). Pure.
[[nodiscard]] std::vector<std::string> runtimes_in(std::string_view text);

struct LinkedRuntimes {
  std::vector<std::string> names;  // from plan::k_openmp_runtimes
  std::string why_none;            // "is a script"; empty if `names` is not
};

// The runtimes of the program `program` (its argv[0]). Runtimes that LD_PRELOAD adds count only if
// the program itself is linked with one; otherwise it may still load others. Runs the dynamic
// loader for at most 5 s. Thread-safe.
[[nodiscard]] LinkedRuntimes linked_runtimes(const std::string& program);

}  // namespace dts::launch
