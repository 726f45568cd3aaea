// SPDX-License-Identifier: Apache-2.0
#include "core/launch/program/stop_target.hpp"

#include "core/base/files/files.hpp"
#include "core/base/os/process_table.hpp"
#include "core/base/text/text.hpp"
#include "core/plan/program/inner_program.hpp"

#include <sys/syscall.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>

namespace dts::launch {
namespace {

constexpr unsigned k_deepest = 8;

constexpr std::array<std::string_view, 10> k_shells{
    "sh", "bash", "dash", "ash", "busybox", "zsh", "ksh", "ksh93", "mksh", "fish"};
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

// True if its main thread waits for a process that it has started, as that of a script around
// subprocess.run() does, or xargs. Of another user's process the kernel does not show it.
bool waits_for_child(pid_t pid) {
  const auto text = read_file(proc_path(pid, "syscall"));
  if (!text) return false;
  const auto number = parse_number(text->substr(0, text->find(' ')));
  return number && (*number == SYS_wait4 || *number == SYS_waitid);
}

using Children = std::multimap<pid_t, pid_t>;  // by parent

Children children_by_parent() {
  Children children;
  for (const auto& [pid, info] : living_processes()) children.emplace(info.parent, pid);
  return children;
}

void collect(
    pid_t pid, int signal, const Children& children, unsigned depth, std::vector<pid_t>& found) {
  const auto [from, to] = children.equal_range(pid);
  for (auto child = from; child != to; ++child) {
    const bool is_taken = takes(child->second, signal);
    const std::size_t before = found.size();
    const bool may_look = is_taken ? passes_on(child->second) : is_wrapper(child->second);
    if (depth < k_deepest && may_look) collect(child->second, signal, children, depth + 1, found);
    if (is_taken && found.size() == before) found.push_back(child->second);
  }
}

}  // namespace

bool is_wrapper(pid_t pid) {
  std::error_code failed;
  const auto program = std::filesystem::read_symlink(proc_path(pid, "exe"), failed);
  if (!failed && is_one_of(k_shells, program.filename().string())) return true;
  const std::string name = program_of(pid);
  return plan::is_wrapper_name(name) || is_one_of(k_starters, name) ||
         is_one_of(k_starting, name) || waits_for_child(pid);
}

bool handles(pid_t pid, int signal) {
  const std::string caught = proc_field(proc_path(pid, "status"), "SigCgt");
  const std::uint64_t mask = std::strtoull(caught.c_str(), nullptr, 16);
  return (mask >> (signal - 1) & 1U) != 0;
}

std::vector<pid_t> stop_targets(pid_t leader, int signal) {
  if (takes(leader, signal) ? !passes_on(leader) : !is_wrapper(leader)) return {leader};
  std::vector<pid_t> found;
  collect(leader, signal, children_by_parent(), 0, found);
  if (found.empty()) found.push_back(leader);
  return found;
}

}  // namespace dts::launch
