// SPDX-License-Identifier: Apache-2.0
// The control groups that a process is in. Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace dts {

// A line "number:controllers:path" of /proc/PID/cgroup (cgroups(7)).
struct Cgroup {
  std::vector<std::string> controllers;  // empty for version 2
  std::string path;                      // relative to the hierarchy's mount; begins with "/"

  [[nodiscard]] bool has(std::string_view controller) const;

  [[nodiscard]] bool is_unified() const { return controllers.empty(); }
};

// All well-formed lines, in order.
[[nodiscard]] std::vector<Cgroup> parse_cgroups(std::string_view proc_cgroup);

}  // namespace dts
