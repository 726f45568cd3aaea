// SPDX-License-Identifier: Apache-2.0
#include "core/spec/validate.hpp"

#include "core/base/text/hostlist.hpp"
#include "core/base/text/text.hpp"
#include "core/spec/option.hpp"
#include "core/spec/parts.hpp"

#include <fmt/format.h>

#include <set>

namespace dts::spec {
namespace {

constexpr std::size_t k_longest_folder_name = 200;   // plus time and number, one path component
constexpr std::size_t k_longest_argument = 131'072;  // MAX_ARG_STRLEN of execve(2)
// Of a program with all its arguments. The kernel accepts 2 MiB with the environment, a quarter of
// the usual limit of the stack, and counts 8 bytes more for each of them (execve(2)).
constexpr std::size_t k_longest_command = 524'288;

void check_hosts(Diagnostics& problems, const JobSpec& spec) {
  const auto hosts = expand_host_slots(spec.hosts);
  if (!hosts) {
    problems.push_back({"--hosts", hosts.error().message, "for example n[1-4]:8, or n1:2,n2:4"});
    return;
  }
  if (spec.nodes != 1 && spec.nodes != hosts->size())
    problems.push_back({"--nodes",
                        fmt::format("{}, but --hosts names {}", spec.nodes, hosts->size()),
                        "omit --nodes"});
  std::set<std::string> seen;
  for (const HostSlots& host : *hosts)
    if (!seen.insert(host.host).second)
      problems.push_back({"--hosts",
                          fmt::format("{} is named twice", host.host),
                          fmt::format("for two ranks on it write {}:2", host.host)});
}

void check_launcher(Diagnostics& problems, const JobSpec& spec) {
  const LauncherRow* row = nullptr;
  for (const LauncherRow& one : built_in_launchers())
    if (one.launcher == spec.launcher) row = &one;
  if (row != nullptr && row->hosts == nullptr && spec.hosts.empty())
    problems.push_back({"--launcher",
                        fmt::format("{} needs `dtsubmit run --hosts`: in a Slurm job its ranks "
                                    "would be outside of the job, on cores and GPUs of others",
                                    row->name),
                        "omit --launcher"});
  if (spec.hosts.empty()) return;
  check_hosts(problems, spec);
  if (row != nullptr && row->hosts != nullptr)
    problems.push_back({"--launcher", row->hosts, "omit --launcher: ssh starts the ranks"});
}

void check_command(Diagnostics& problems, const std::vector<std::string>& command) {
  if (!command.empty() && command[0].empty())
    problems.push_back(
        {"command", "the program's name is empty", "write it after --, e.g. -- python3 train.py"});
  std::size_t size = 0;
  for (const std::string& argument : command) size += argument.size() + 1;
  if (size > k_longest_command)
    problems.push_back({"command",
                        fmt::format("the program and its {} arguments are {} bytes long, at most "
                                    "{} are passed on",
                                    command.size() - 1,
                                    size,
                                    k_longest_command),
                        "put them in a file, and name that"});
  for (std::size_t i = 0; i < command.size(); ++i) {
    if (command[i].find('\0') != std::string::npos)
      problems.push_back(
          {"command",
           fmt::format("argument {} holds a NUL byte, which ends it for the kernel", i),
           "omit the byte"});
    if (command[i].size() > k_longest_argument)
      problems.push_back({"command",
                          fmt::format("argument {} is {} bytes long, the kernel accepts {}",
                                      i,
                                      command[i].size(),
                                      k_longest_argument),
                          "put it in a file"});
  }
}

void check_memory(Diagnostics& problems, const JobSpec& spec) {
  std::vector<std::string> given;
  if (spec.memory_mib) given.emplace_back("--mem");
  for (const char* option : {"mem-per-cpu", "mem-per-gpu"})
    if (spec.slurm.count(option) > 0) given.push_back(std::string("--") + option);
  if (given.size() > 1)
    problems.push_back({given.front(),
                        fmt::format("{} exclude each other", join(given, ", ")),
                        "use one of them"});
}

void check_cores(Diagnostics& problems, const JobSpec& spec) {
  if (!spec.cpus_per_gpu) return;
  if (spec.cpus_per_task)
    problems.push_back({"--cpus-per-gpu", "--cpus-per-task says it as well", "use one of them"});
  if (spec.gpus_per_node.value_or(0) == 0)
    problems.push_back({"--cpus-per-gpu", "the job has no GPUs", "add --gpus-per-node"});
}

}  // namespace

Diagnostics validate(const JobSpec& spec) {
  Diagnostics problems;
  for (const Option& option : options())
    if (option.value.check) option.value.check(spec, option.long_name(), problems);
  if (spec.spares > 0 && !spec.hosts.empty())
    problems.push_back({"--spares", "only a Slurm job has spare nodes, not --hosts"});
  check_launcher(problems, spec);
  check_memory(problems, spec);
  check_cores(problems, spec);
  check_command(problems, spec.command);
  check_parts(spec, problems);
  return problems;
}

std::string folder_name(const std::string& job_name) {
  std::string safe;
  for (const char c : job_name)
    if (is_safe_name(safe + c)) safe += c;
  if (safe.size() > k_longest_folder_name) safe.resize(k_longest_folder_name);
  return safe.empty() ? "job" : safe;
}

}  // namespace dts::spec
