// SPDX-License-Identifier: Apache-2.0
// Whether the kernel has killed processes for lack of memory, according to the kernel's own
// counters: the exit status is that of any process that SIGKILL ended.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace dts::launch {

// The file in which the kernel counts the kills in the caller's memory cgroup, found from the text
// of /proc/self/cgroup (cgroups(7)): memory.events in version 2, memory.oom_control in version 1.
// Empty for a process in the root cgroup, which has no such file. Pure.
[[nodiscard]] std::string oom_counter_file(std::string_view proc_self_cgroup);

// The number after "oom_kill " at the start of a line of `text`. Pure.
[[nodiscard]] std::optional<std::uint64_t> oom_kills_in(std::string_view text);

// Remembers the number of kills at construction. Thread-safe after that.
class OomCounter {
 public:
  OomCounter();

  // True if such a kill since construction ended, or may well have ended, a process with
  // `exit_code` (128 + signal). The cgroup's counter covers only our own job. Without one, the
  // counter of the node (/proc/vmstat) is used, and only for a process that SIGKILL ended.
  [[nodiscard]] bool explains(int exit_code) const;

 private:
  std::string cgroup_file_;
  std::optional<std::uint64_t> in_cgroup_;
  std::optional<std::uint64_t> on_node_;
};

}  // namespace dts::launch
