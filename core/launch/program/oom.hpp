// SPDX-License-Identifier: Apache-2.0
// Whether the kernel has killed processes for lack of memory. Uses the kernel's own counters, since
// a process killed that way looks like any other victim of SIGKILL.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace dts::launch {

// The file in which the kernel counts the kills of the caller's memory cgroup, found from the text
// of /proc/self/cgroup (cgroups(7)): memory.events of version 2, memory.oom_control of version 1.
// Empty if the process is in the root cgroup, which has none. Pure.
[[nodiscard]] std::string oom_counter_file(std::string_view proc_self_cgroup);

// The number after "oom_kill " at the beginning of a line. Pure.
[[nodiscard]] std::optional<std::uint64_t> oom_kills_in(std::string_view text);

// The kills so far, for a later comparison. Thread-safe after construction.
class OomCounter {
 public:
  OomCounter();

  // True if a process with `exit_code` (128 + signal) was, or may well have been, ended by such a
  // kill since construction. The cgroup's counter covers only us; without one, the node's
  // (/proc/vmstat) is used, and only for a process that SIGKILL ended.
  [[nodiscard]] bool explains(int exit_code) const;

 private:
  std::string cgroup_file_;
  std::optional<std::uint64_t> in_cgroup_;
  std::optional<std::uint64_t> on_node_;
};

}  // namespace dts::launch
