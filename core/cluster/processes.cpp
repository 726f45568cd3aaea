// SPDX-License-Identifier: Apache-2.0
#include "core/cluster/processes.hpp"

#include "core/base/files/files.hpp"
#include "core/base/os/process_table.hpp"
#include "core/base/text/text.hpp"
#include "core/cluster/layout/config.hpp"

#include <fmt/format.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <map>
#include <set>
#include <thread>

namespace dts::cluster {
namespace fs = std::filesystem;

namespace {

bool has_file_below(pid_t pid, const std::string& folder) {
  std::error_code error;
  for (const std::string& name : list_folder(proc_path(pid, "fd"))) {
    const std::string target = fs::read_symlink(proc_path(pid, "fd/") + name, error).string();
    if (!error && target.compare(0, folder.size() + 1, folder + "/") == 0) return true;
  }
  return false;
}

bool is_single(const std::string& program) {
  return program == "slurmctld" || program == "munged" || program == "mariadbd" ||
         program == "slurmdbd";
}

// The program's name, the name after -N for a slurmd, or empty.
std::string daemon_name(pid_t pid, const std::string& program) {
  if (is_single(program)) return program;
  if (program != "slurmd") return {};
  const std::vector<std::string> words = command_of(pid);
  for (std::size_t i = 0; i + 1 < words.size(); ++i)
    if (words[i] == "-N") return words[i + 1];
  return {};
}

ino_t uts_namespace(const std::string& process) {
  struct stat info {};

  return ::stat(("/proc/" + process + "/ns/uts").c_str(), &info) == 0 ? info.st_ino : 0;
}

bool is_client(const std::string& program) {
  return program == "srun" || program == "salloc" || program == "sbatch" || program == "sattach";
}

class Search {
 public:
  Search(const std::string& folder, bool own_host_names)
      : folder_(folder), own_host_names_(own_host_names), processes_(living_processes()) {
    for (const auto& [pid, process] : processes_) check(pid, process);
    if (own_host_names_) add_namespaces();
    add_descendants();
    found_.erase(::getpid());
  }

  [[nodiscard]] std::vector<Member> members() const {
    const auto uptime = read_file("/proc/uptime");
    const double seconds = uptime ? std::strtod(uptime->c_str(), nullptr) : 0;
    const auto ticks = static_cast<double>(::sysconf(_SC_CLK_TCK));
    std::vector<Member> result;
    for (const auto& [pid, daemon] : found_) {
      const double age = seconds - static_cast<double>(processes_.at(pid).started) / ticks;
      result.push_back({pid, daemon, std::chrono::seconds(static_cast<long>(age > 0 ? age : 0))});
    }
    return result;
  }

 private:
  void check(pid_t pid, const ProcessInfo& process) {
    const std::string block = environment_of(pid);
    const bool started_by_us = has_entry(block, std::string(k_mark) + "=" + folder_);
    const bool in_job = has_entry(block, "SLURM_CONF=" + conf_path(folder_)) &&
                        (has_entry(block, "SLURMD_NODENAME=") || is_client(process.name));
    // slurmstepd overwrites its environment with its title.
    const bool stepd =
        process.name.compare(0, 10, "slurmstepd") == 0 && has_file_below(pid, folder_);
    if (!started_by_us && !in_job && !stepd) return;
    found_[pid] = started_by_us ? daemon_name(pid, process.name) : "";
    if (own_host_names_ && (started_by_us || stepd))
      namespaces_.insert(uts_namespace(std::to_string(pid)));
  }

  void add_namespaces() {
    namespaces_.erase(0);
    namespaces_.erase(uts_namespace("self"));
    namespaces_.erase(uts_namespace("1"));
    if (namespaces_.empty()) return;
    for (const auto& [pid, process] : processes_)
      if (namespaces_.count(uts_namespace(std::to_string(pid))) > 0) found_.try_emplace(pid);
  }

  void add_descendants() {
    for (bool grown = true; grown;) {
      grown = false;
      for (const auto& [pid, process] : processes_)
        if (found_.count(process.parent) > 0) grown |= found_.try_emplace(pid).second;
    }
  }

  const std::string& folder_;
  bool own_host_names_;
  std::map<pid_t, ProcessInfo> processes_;
  std::map<pid_t, std::string> found_;
  std::set<ino_t> namespaces_;
};

std::string describe(const std::vector<Member>& members) {
  std::vector<std::string> pids;
  pids.reserve(members.size());
  for (const Member& member : members) pids.push_back(std::to_string(member.pid));
  return join(pids, ", ");
}

}  // namespace

std::vector<Member> find_members(const std::string& folder, bool own_host_names) {
  return Search(folder, own_host_names).members();
}

Result<void> end_members(const std::string& folder,
                         bool own_host_names,
                         std::chrono::milliseconds limit) {
  const auto deadline = std::chrono::steady_clock::now() + limit;
  while (true) {
    const std::vector<Member> members = find_members(folder, own_host_names);
    if (members.empty()) return {};
    for (const Member& member : members) {
      ::kill(member.pid, SIGKILL);
      ::waitpid(member.pid, nullptr, WNOHANG);  // our child if it was started a moment ago
    }
    if (std::chrono::steady_clock::now() > deadline)
      return fail(
          Errc::io,
          fmt::format("processes {} of the cluster in {} do not end", describe(members), folder),
          "they hang in the kernel or belong to another user");
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
}

}  // namespace dts::cluster
