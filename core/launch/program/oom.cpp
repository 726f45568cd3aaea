// SPDX-License-Identifier: Apache-2.0
#include "core/launch/program/oom.hpp"

#include "core/base/files/files.hpp"
#include "core/base/os/cgroup.hpp"
#include "core/base/text/text.hpp"

#include <csignal>

namespace dts::launch {
namespace {

std::optional<std::uint64_t> kills_in_file(const std::string& path) {
  if (path.empty()) return std::nullopt;
  const auto text = read_file(path);
  return text ? oom_kills_in(*text) : std::nullopt;
}

bool grew(std::optional<std::uint64_t> before, std::optional<std::uint64_t> now) {
  return before && now && *now > *before;
}

}  // namespace

std::string oom_counter_file(std::string_view proc_self_cgroup) {
  std::string unified;
  for (const Cgroup& cgroup : parse_cgroups(proc_self_cgroup)) {
    if (cgroup.path == "/") continue;
    if (cgroup.has("memory")) return "/sys/fs/cgroup/memory" + cgroup.path + "/memory.oom_control";
    if (cgroup.is_unified()) unified = "/sys/fs/cgroup" + cgroup.path + "/memory.events";
  }
  return unified;
}

std::optional<std::uint64_t> oom_kills_in(std::string_view text) {
  constexpr std::string_view k_key = "oom_kill ";
  for (const std::string& line : split(text, '\n'))
    if (line.rfind(k_key, 0) == 0) return parse_number(std::string_view(line).substr(k_key.size()));
  return std::nullopt;
}

OomCounter::OomCounter()
    : cgroup_file_(oom_counter_file(read_file("/proc/self/cgroup").value_or(""))),
      in_cgroup_(kills_in_file(cgroup_file_)),
      on_node_(in_cgroup_ ? std::nullopt : kills_in_file("/proc/vmstat")) {}

bool OomCounter::explains(int exit_code) const {
  if (exit_code == 0) return false;
  if (in_cgroup_) return grew(in_cgroup_, kills_in_file(cgroup_file_));
  return exit_code == 128 + SIGKILL && grew(on_node_, kills_in_file("/proc/vmstat"));
}

}  // namespace dts::launch
