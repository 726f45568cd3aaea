// SPDX-License-Identifier: Apache-2.0
// The processes of this machine, from proc(5). Thread-safe.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace dts {

struct ProcessInfo {
  pid_t parent = 0;
  std::string name;           // of the program, at most 15 bytes
  std::uint64_t started = 0;  // clock ticks after boot: with the pid it names one process for ever
  std::uint64_t worked = 0;   // clock ticks of processor time, user and system
};

// "/proc/PID/FILE"
[[nodiscard]] std::string proc_path(pid_t pid, std::string_view file);

// Different after every start of the machine, without blanks; empty where the kernel does not say.
[[nodiscard]] std::string boot_id();

// nullopt where there is no such process, or nothing but its exit code is left of it.
[[nodiscard]] std::optional<ProcessInfo> process_info(pid_t pid);

// The same of one thread of it, with its own name and times.
[[nodiscard]] std::optional<ProcessInfo> thread_info(pid_t pid, pid_t thread);

// The children of one thread of it, and of all its threads (proc(5), /proc/PID/task/TID/children).
[[nodiscard]] std::vector<pid_t> children_of_thread(pid_t pid, pid_t thread);
[[nodiscard]] std::vector<pid_t> children_of(pid_t pid);

[[nodiscard]] std::map<pid_t, ProcessInfo> living_processes();

// The value of the line "KEY:  value" in such a file of /proc; empty: there is none.
[[nodiscard]] std::string proc_field(const std::string& file, std::string_view key);

// The contents of /proc/PID/environ ("A=1\0B=2\0"), with which the program was started; empty if we
// may not read it.
[[nodiscard]] std::string environment_of(pid_t pid);

// True where such a block has exactly `entry`, or an entry that starts with it if it ends in '='.
[[nodiscard]] bool has_entry(const std::string& block, const std::string& entry);

}  // namespace dts
