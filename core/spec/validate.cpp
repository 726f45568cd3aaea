// SPDX-License-Identifier: Apache-2.0
#include "core/spec/validate.hpp"

#include "core/base/hostlist.hpp"
#include "core/base/json_bytes.hpp"
#include "core/base/text.hpp"
#include "core/base/utf8.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <csignal>
#include <set>

namespace dts::spec {
namespace {

constexpr unsigned k_most = 65'535;                  // fits Slurm's 16-bit counts
constexpr std::size_t k_longest_text = 1'024;        // Slurm's limit for names (job_mgr.c)
constexpr std::size_t k_longest_argument = 131'072;  // MAX_ARG_STRLEN of execve(2)

void check_count(Diagnostics& problems,
                 const char* option,
                 std::optional<unsigned> value,
                 unsigned least) {
  if (!value) return;
  if (*value < least)
    problems.push_back({option, fmt::format("at least {}, not {}", least, *value)});
  if (*value > k_most)
    problems.push_back({option, fmt::format("at most {}, not {}", k_most, *value)});
}

void check_hosts(Diagnostics& problems, const JobSpec& spec) {
  const auto hosts = expand_host_slots(spec.hosts);
  if (!hosts) {
    problems.push_back({"--hosts", hosts.error().message, "for example n[1-4]:8, or n1:2,n2:4"});
    return;
  }
  if (spec.nodes != 1 && spec.nodes != hosts->size())
    problems.push_back({"--nodes",
                        fmt::format("{}, but --hosts names {}", spec.nodes, hosts->size()),
                        "leave --nodes out"});
  std::set<std::string> seen;
  for (const HostSlots& host : *hosts)
    if (!seen.insert(host.host).second)
      problems.push_back({"--hosts",
                          fmt::format("{} is named twice", host.host),
                          fmt::format("for two ranks on it write {}:2", host.host)});
}

void check_launcher(Diagnostics& problems, const JobSpec& spec) {
  const std::string& name = spec.launcher;
  if (name != "auto" && name != "mpirun" && name != "srun" && name != "ssh")
    problems.push_back({"--launcher", "must be auto, mpirun, srun or ssh"});
  if (name == "ssh" && spec.hosts.empty())
    problems.push_back(
        {"--launcher",
         "ssh needs `dtsubmit run --hosts`: in a Slurm job its ranks would be outside of the job, "
         "on cores and GPUs of others",
         "leave --launcher out"});
  if (spec.hosts.empty()) return;
  check_hosts(problems, spec);
  if (name == "mpirun")
    problems.push_back({"--launcher",
                        "mpirun does not take the environment and the folder along to --hosts",
                        "leave --launcher out: ssh starts the ranks"});
  if (name == "srun")
    problems.push_back({"--launcher",
                        "srun starts ranks in a Slurm job, not on --hosts",
                        "leave --launcher out: ssh starts the ranks"});
}

void check_text(Diagnostics& problems, const char* option, const std::string& text) {
  if (!is_printable(text) || !is_utf8(text))
    problems.push_back({option, "contains a byte that is no printable UTF-8 character"});
  else if (text.size() > k_longest_text)
    problems.push_back(
        {option,
         fmt::format("is {} bytes long, Slurm takes at most {}", text.size(), k_longest_text)});
}

void check_command(Diagnostics& problems, const std::vector<std::string>& command) {
  if (!command.empty() && command[0].empty())
    problems.push_back(
        {"command", "the program's name is empty", "write it after --, e.g. -- python3 train.py"});
  for (std::size_t i = 0; i < command.size(); ++i) {
    if (command[i].find('\0') != std::string::npos)
      problems.push_back(
          {"command",
           fmt::format("argument {} holds a NUL byte, which ends it for the kernel", i),
           "leave the byte out"});
    if (command[i].size() > k_longest_argument)
      problems.push_back({"command",
                          fmt::format("argument {} is {} bytes long, the kernel takes {}",
                                      i,
                                      command[i].size(),
                                      k_longest_argument),
                          "put it in a file"});
  }
}

void check_frameworks(Diagnostics& problems, const std::vector<std::string>& frameworks) {
  const std::vector<std::string> known = all_frameworks();
  for (const std::string& name : frameworks) {
    if (std::find(known.begin(), known.end(), name) != known.end()) continue;
    const bool reads_torch = name == "deepspeed" || name == "accelerate" || name == "lightning";
    problems.push_back({"--framework",
                        fmt::format("`{}` is not known", name),
                        reads_torch ? "it reads the variables of torch"
                                    : "all, none, or a list of " + join(known, ", ")});
  }
}

bool is_interpreter(std::string_view name) {
  for (const std::string_view known :
       {"python", "bash", "sh", "perl", "julia", "Rscript", "env", "torchrun"})
    if (name.substr(0, known.size()) == known)
      return name.find_first_not_of("0123456789.", known.size()) == std::string_view::npos;
  return false;
}

std::string file_name(std::string_view path) {
  const std::size_t slash = path.find_last_of('/');
  return std::string(slash == std::string_view::npos ? path : path.substr(slash + 1));
}

}  // namespace

Diagnostics validate(const JobSpec& spec) {
  Diagnostics problems;
  if (!spec.job_name.empty() && !is_safe_name(spec.job_name))
    problems.push_back(
        {"--job-name",
         "must start with a letter or digit and go on with letters, digits, `.`, `_` or `-`",
         "it becomes a folder's name"});
  else if (spec.job_name.size() > 200)
    problems.push_back(
        {"--job-name", "is longer than 200 characters", "it becomes a folder's name"});
  check_count(problems, "--nodes", spec.nodes, 1);
  check_count(problems, "--gpus-per-node", spec.gpus_per_node, 0);
  check_count(problems, "--ntasks-per-node", spec.ntasks_per_node, 1);
  check_count(problems, "--cpus-per-task", spec.cpus_per_task, 1);
  check_text(problems, "--partition", spec.partition);
  if (const auto nodes = expand_hostlist(spec.exclude); !spec.exclude.empty() && !nodes)
    problems.push_back({"--exclude", nodes.error().message, "for example n3 or n[1-2],m7"});
  check_count(problems, "--spares", spec.spares, 0);
  if (spec.spares > 0 && !spec.hosts.empty())
    problems.push_back({"--spares", "only a Slurm job has spare nodes, not --hosts"});
  check_text(problems, "--account", spec.account);
  check_text(problems, "--qos", spec.qos);
  check_text(problems, "--ssh-command", spec.ssh_command);
  if (spec.time && spec.time->count() < 1)
    problems.push_back({"--time", "a time limit of zero", "ask for at least one minute"});
  // job_desc_msg_t.warn_time has 16 bits.
  if (spec.signal_margin.count() < 0 || spec.signal_margin.count() > k_most)
    problems.push_back({"--signal-margin", fmt::format("must be 0 to {} seconds", k_most)});
  if (spec.start_timeout.count() < 1 || spec.start_timeout.count() > k_most)
    problems.push_back({"--start-timeout", fmt::format("must be 1 to {} seconds", k_most)});
  if (spec.preflight.count() < 0 || spec.preflight.count() > k_most)
    problems.push_back({"--preflight", fmt::format("must be 0 to {} seconds", k_most)});
  if (spec.stop_signal != SIGTERM && spec.stop_signal != SIGUSR1 && spec.stop_signal != SIGUSR2)
    problems.push_back({"--stop-signal", "must be TERM, USR1 or USR2"});
  check_launcher(problems, spec);
  const auto bind_threads = {"none", "auto", "gnu", "intel"};
  if (std::find(bind_threads.begin(), bind_threads.end(), spec.bind_threads) == bind_threads.end())
    problems.push_back({"--bind-threads", "must be none, auto, gnu or intel"});
  check_frameworks(problems, spec.frameworks);
  check_command(problems, spec.command);
  return problems;
}

std::string default_job_name(const std::vector<std::string>& command) {
  std::string name = command.empty() ? "dttrain" : file_name(command[0]);
  if (is_interpreter(name))
    for (std::size_t i = 1; i < command.size(); ++i) {
      if (command[i] == "-c" || command[i] == "-e") break;  // a program's text is no name
      if (command[i].empty() || command[i][0] == '-') continue;
      name = file_name(command[i]);
      break;
    }
  if (const std::size_t dot = name.find_last_of('.'); dot != std::string::npos && dot > 0)
    name.resize(dot);
  std::string safe;
  for (const char c : name)
    if (is_safe_name(safe + c)) safe += c;
  if (safe.size() > 64) safe.resize(64);
  return safe.empty() ? "job" : safe;
}

}  // namespace dts::spec
