// SPDX-License-Identifier: Apache-2.0
#include "core/base/os/cgroup.hpp"

#include "core/base/text/text.hpp"

#include <algorithm>

namespace dts {

bool Cgroup::has(std::string_view controller) const {
  return std::find(controllers.begin(), controllers.end(), controller) != controllers.end();
}

std::vector<Cgroup> parse_cgroups(std::string_view proc_cgroup) {
  std::vector<Cgroup> found;
  for (const std::string& line : split(proc_cgroup, '\n')) {
    const std::size_t first = line.find(':');
    const std::size_t second = line.find(':', first + 1);
    if (first == std::string::npos || second == std::string::npos) continue;
    const std::string controllers = line.substr(first + 1, second - first - 1);
    Cgroup cgroup{{}, line.substr(second + 1)};
    if (!controllers.empty()) cgroup.controllers = split(controllers, ',');
    if (cgroup.path.starts_with('/')) found.push_back(std::move(cgroup));
  }
  return found;
}

}  // namespace dts
