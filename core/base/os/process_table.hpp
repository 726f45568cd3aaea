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
  std::uint64_t started = 0;  // clock ticks after boot; pid and start time together are unique
  std::uint64_t worked = 0;   // processor time in clock ticks, user and system
};

// "/proc/PID/FILE"
[[nodiscard]] std::string proc_path(pid_t pid, std::string_view file);

// An id that changes with every boot, without blanks; empty if the kernel does not provide it.
[[nodiscard]] std::string boot_id();

// nullopt if there is no such process, or it is a zombie.
[[nodiscard]] std::optional<ProcessInfo> process_info(pid_t pid);

// The same for a thread of the process, with the thread's name and times.
[[nodiscard]] std::optional<ProcessInfo> thread_info(pid_t pid, pid_t thread);

// The children of one thread, or of all threads, of a process (proc(5),
// /proc/PID/task/TID/children).
[[nodiscard]] std::vector<pid_t> children_of_thread(pid_t pid, pid_t thread);
[[nodiscard]] std::vector<pid_t> children_of(pid_t pid);

[[nodiscard]] std::map<pid_t, ProcessInfo> living_processes();

// The value of the line "KEY:  value" in a file of /proc; empty if there is none.
[[nodiscard]] std::string proc_field(const std::string& file, std::string_view key);

// The words of its command line; one empty word if they are unknown.
[[nodiscard]] std::vector<std::string> command_of(pid_t pid);

// The contents of /proc/PID/environ ("A=1\0B=2\0"), the program's initial environment; empty if we
// may not read it.
[[nodiscard]] std::string environment_of(pid_t pid);

// True if the content of an environ file has exactly `entry`, or an entry that begins with it if it
// ends in '='.
[[nodiscard]] bool has_entry(const std::string& block, const std::string& entry);

}  // namespace dts
