// SPDX-License-Identifier: Apache-2.0
#include "core/cluster/cgroups.hpp"

#include "core/base/files/files.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <thread>

namespace dts::cluster {
namespace fs = std::filesystem;

namespace {

std::vector<std::string> groups_of(const std::vector<std::string>& nodes) {
  std::vector<std::string> result;
  for (const std::string& hierarchy : list_folder(k_cgroups))
    for (const std::string& node : nodes) {
      std::string path = fmt::format("{}/{}/slurm_{}", k_cgroups, hierarchy, node);
      if (exists(path)) result.push_back(std::move(path));
    }
  return result;
}

// Groups are removed by rmdir(2), innermost first; the files in them cannot be unlinked.
bool remove_group(const std::string& path) {
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(path, error))
    if (entry.is_directory(error)) remove_group(entry.path().string());
  return ::rmdir(path.c_str()) == 0 || errno == ENOENT;
}

}  // namespace

Result<void> check_cgroups(bool constrain_cores) {
  const auto need = [](const char* option, const char* hierarchy) -> Result<void> {
    const std::string path = fmt::format("{}/{}", k_cgroups, hierarchy);
    if (exists(path + "/tasks")) return {};
    return fail(
        Errc::invalid,
        fmt::format("{} needs the {} hierarchy of cgroup v1 at {}", option, hierarchy, path),
        "boot with systemd.unified_cgroup_hierarchy=0, or use --proctrack linuxproc");
  };
  DTS_TRY(need("--proctrack cgroup", "freezer"));
  return constrain_cores ? need("--constrain-cores", "cpuset") : Result<void>();
}

bool have_groups(const std::vector<std::string>& nodes) {
  return !groups_of(nodes).empty();
}

Result<void> remove_groups(const std::vector<std::string>& nodes, std::chrono::milliseconds limit) {
  const auto deadline = std::chrono::steady_clock::now() + limit;
  while (true) {
    std::string left;
    for (const std::string& group : groups_of(nodes))
      if (!remove_group(group)) left = group;
    if (left.empty()) return {};
    if (std::chrono::steady_clock::now() > deadline)
      return fail(Errc::io,
                  fmt::format("cannot remove the control group {}", left),
                  "processes in it hang in the kernel?");
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
}

}  // namespace dts::cluster
