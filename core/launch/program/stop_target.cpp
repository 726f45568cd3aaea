// SPDX-License-Identifier: Apache-2.0
#include "core/launch/program/stop_target.hpp"

#include "core/base/files/files.hpp"
#include "core/base/os/process_table.hpp"
#include "core/base/text/text.hpp"
#include "core/plan/program/inner_program.hpp"

#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace dts::launch {
namespace {

constexpr unsigned k_deepest = 8;

// Shells whose arguments are not read as those of sh, see plan::is_shell().
constexpr std::array<std::string_view, 3> k_other_shells{"busybox", "ksh93", "fish"};
// Apptainer, Singularity and bubblewrap run the container below a process of this name.
constexpr std::array<std::string_view, 3> k_starters{"starter", "starter-suid", "bwrap"};
// They block the signal, or end by it and leave or end their program, which could have saved.
constexpr std::array<std::string_view, 3> k_tracers{"strace", "ltrace", "perf"};

// DeepSpeed's process on each node ends its workers at the signal, and then itself by exit code 1.
constexpr std::string_view k_ends_workers = "deepspeed.launcher.launch";
// They start the training as a process of its own, and have no handler where torchrun is not in
// them: accelerate with a single process, composer, deepspeed. Names of commands and of Python's
// modules.
constexpr std::array<std::string_view, 10> k_starting{"accelerate",
                                                      "accelerate-launch",
                                                      "accelerate.commands.launch",
                                                      "composer",
                                                      "composer.cli",
                                                      "composer.cli.launcher",
                                                      "deepspeed",
                                                      "deepspeed.pt",
                                                      "deepspeed.launcher.runner",
                                                      k_ends_workers};

// They pass the signal on to the process that they started, and to no other: if that is a shell, it
// would die, and the program below it would never be asked.
constexpr std::array<std::string_view, 5> k_passing{"uv", "uvx", "timeout", "tini", "dumb-init"};

// "conda" of "conda run", "/usr/bin/python3 -u /opt/bin/conda run" and "python3 -m conda run".
std::string program_of(pid_t pid) {
  const auto words = command_of(pid);
  const auto script =
      plan::is_python(plan::file_name_of(words[0])) ? plan::program_of_python(words) : std::nullopt;
  return std::string(plan::file_name_of(words[script ? script->at : 0]));
}

bool is_tracer(pid_t pid) {
  return is_one_of(k_tracers, plan::file_name_of(command_of(pid).front()));
}

// True if it handles the signal for the program's sake.
bool takes(pid_t pid, int signal) {
  return handles(pid, signal) && !is_tracer(pid) && program_of(pid) != k_ends_workers;
}

bool passes_on(pid_t pid) {
  return is_one_of(k_passing, program_of(pid));
}

// Clock ticks since its start; nullopt if it has ended.
std::optional<std::uint64_t> age_of(pid_t pid) {
  timespec now{};
  ::clock_gettime(CLOCK_BOOTTIME, &now);
  const auto ticks = static_cast<std::uint64_t>(::sysconf(_SC_CLK_TCK));
  const std::uint64_t since_boot = static_cast<std::uint64_t>(now.tv_sec) * ticks +
                                   static_cast<std::uint64_t>(now.tv_nsec) * ticks / 1'000'000'000;
  const auto info = process_info(pid);
  if (!info) return std::nullopt;
  return since_boot - std::min(since_boot, info->started);
}

// The children that its main thread waits for in the kernel, as that of a script around
// subprocess.run() does, or xargs: a certain one or, with wait4(-1), all. Empty if it does not
// wait, or if the kernel does not show it, as of another user's process.
std::vector<pid_t> awaited_children(pid_t pid) {
  const auto text = read_file(proc_path(pid, "syscall"));
  if (!text) return {};
  const auto words = split(*text, ' ');  // "61 0x1f3 ...": the call and its arguments
  const auto number = parse_number(words[0]);
  const bool is_wait4 = number && *number == SYS_wait4;
  if (words.size() < 3 || !number || (!is_wait4 && *number != SYS_waitid)) return {};
  const auto argument = [&](std::size_t at) {
    return static_cast<pid_t>(std::strtoull(words[at].c_str(), nullptr, 16));
  };
  const pid_t certain = is_wait4 ? argument(1) : argument(1) == P_PID ? argument(2) : -1;
  return certain > 0 ? std::vector<pid_t>{certain} : children_of(pid);
}

using Children = std::multimap<pid_t, pid_t>;  // by parent

Children children_by_parent() {
  Children children;
  for (const auto& [pid, info] : living_processes()) children.emplace(info.parent, pid);
  return children;
}

bool is_wrapper(pid_t pid) {
  return is_named_wrapper(pid) || !wrapped_children(pid).empty();
}

// Those of its children that may run the program on its behalf.
std::vector<pid_t> inner_of(pid_t pid, int signal, const Children& children) {
  if (!handles(pid, signal) && !is_named_wrapper(pid)) return wrapped_children(pid);
  std::vector<pid_t> inner;
  const auto [from, to] = children.equal_range(pid);
  for (auto child = from; child != to; ++child) inner.push_back(child->second);
  return inner;
}

void collect(
    pid_t pid, int signal, const Children& children, unsigned depth, std::vector<pid_t>& found) {
  for (const pid_t child : inner_of(pid, signal, children)) {
    const bool is_taken = takes(child, signal);
    const std::size_t before = found.size();
    const bool may_look = is_taken ? passes_on(child) : is_wrapper(child);
    if (depth < k_deepest && may_look) collect(child, signal, children, depth + 1, found);
    if (is_taken && found.size() == before) found.push_back(child);
  }
}

}  // namespace

bool is_named_wrapper(pid_t pid) {
  std::error_code failed;
  const auto program = std::filesystem::read_symlink(proc_path(pid, "exe"), failed);
  const std::string file = program.filename().string();
  if (!failed && (plan::is_shell(file) || is_one_of(k_other_shells, file))) return true;
  const std::string name = program_of(pid);
  return plan::is_wrapper_name(name) || is_one_of(k_starters, name) || is_one_of(k_starting, name);
}

std::vector<pid_t> wrapped_children(pid_t pid) {
  std::vector<pid_t> found = awaited_children(pid);
  const auto own = age_of(pid);
  std::erase_if(found, [&](pid_t child) {
    const auto age = age_of(child);
    return !own || !age || *age * 2 < *own;
  });
  return found;
}

std::uint64_t handled_signals(pid_t pid) {
  const std::string caught = proc_field(proc_path(pid, "status"), "SigCgt");
  return std::strtoull(caught.c_str(), nullptr, 16);
}

std::vector<pid_t> stop_targets(pid_t leader, int signal) {
  if (takes(leader, signal) ? !passes_on(leader) : !is_wrapper(leader)) return {leader};
  std::vector<pid_t> found;
  collect(leader, signal, children_by_parent(), 0, found);
  if (found.empty()) found.push_back(leader);
  return found;
}

}  // namespace dts::launch
