// SPDX-License-Identifier: Apache-2.0
#include "core/cluster/daemons.hpp"

#include "core/base/files/unique_fd.hpp"
#include "core/base/os/environment.hpp"
#include "core/base/os/process.hpp"
#include "core/base/os/program_file.hpp"
#include "core/base/text/text.hpp"
#include "core/cluster/processes.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <string_view>

namespace dts::cluster {
namespace {

enum class For { all, munge, accounting };

struct Need {
  std::string Programs::*file;
  const char* program;
  const char* package;
  For whom = For::all;
};

constexpr std::array<Need, 9> k_needs = {
    {{&Programs::slurmctld, "slurmctld", "slurmctld"},
     {&Programs::slurmd, "slurmd", "slurmd"},
     {&Programs::sinfo, "sinfo", "slurm-client"},
     {&Programs::squeue, "squeue", "slurm-client"},
     {&Programs::munged, "munged", "munge", For::munge},
     {&Programs::slurmdbd, "slurmdbd", "slurmdbd", For::accounting},
     {&Programs::sacctmgr, "sacctmgr", "slurm-client", For::accounting},
     {&Programs::mariadbd, "mariadbd", "mariadb-server-core", For::accounting},
     {&Programs::mariadb_install_db,
      "mariadb-install-db",
      "mariadb-server-core",
      For::accounting}}};

bool needs(const ClusterSpec& spec, For whom) {
  if (whom == For::munge) return spec.auth == Auth::munge;
  return whom == For::all || spec.accounting;
}

std::string locate(const std::string& program) {
  if (const auto file = find_program(program)) return *file;
  for (const char* folder : {"/usr/sbin/", "/usr/local/sbin/", "/sbin/"})
    if (::access((folder + program).c_str(), X_OK) == 0) return folder + program;
  return {};
}

// Set-up in the child. Everything it needs is prepared before the fork, since it must not allocate.
struct Identity {
  std::string host_name;  // empty: none of its own
  std::string hosts;      // mounted as /etc/hosts; empty: the machine's own is used
  bool user_namespace = false;
  std::string uid_map = fmt::format("{0} {0} 1", ::geteuid());
  std::string gid_map = fmt::format("{0} {0} 1", ::getegid());

  [[nodiscard]] unsigned unshare_flags() const {
    if (host_name.empty()) return 0;
    return CLONE_NEWUTS | (user_namespace ? static_cast<unsigned>(CLONE_NEWUSER) : 0U);
  }
};

bool put(const char* path, std::string_view text) {
  const int fd = ::open(path, O_WRONLY | O_CLOEXEC);
  if (fd < 0) return false;
  const bool whole = ::write(fd, text.data(), text.size()) == static_cast<ssize_t>(text.size());
  ::close(fd);
  return whole;
}

// Mounts `file` as /etc/hosts in a private mount namespace, so that node names resolve only within
// the cluster: programs look up their own host name (Gloo in JAX). If the kernel refuses, names do
// not resolve.
void show_hosts(const char* file) {
  if (::unshare(CLONE_NEWNS) == 0 &&
      ::mount(nullptr, "/", nullptr, MS_REC | MS_SLAVE, nullptr) == 0)
    ::mount(file, "/etc/hosts", nullptr, MS_BIND, nullptr);
}

// Called between fork and exec. The system call's number is the same on every architecture. Headers
// before Linux 5.11 lack it, and older kernels refuse the call.
void close_files_on_exec() {
  constexpr long k_close_range = 436;
  constexpr unsigned k_cloexec = 4;
  if (::syscall(k_close_range, 3U, ~0U, k_cloexec) == 0) return;
  constexpr int k_most = 4096;
  for (int fd = 3; fd < k_most; ++fd) ::fcntl(fd, F_SETFD, FD_CLOEXEC);
}

// user_namespaces(7): the user keeps their identity; setgroups must be disabled before gid_map may
// be written.
int become(const Identity& identity) {
  ::setsid();
  close_files_on_exec();
  if (identity.host_name.empty()) return 0;
  if (identity.user_namespace &&
      (!put("/proc/self/uid_map", identity.uid_map) || !put("/proc/self/setgroups", "deny") ||
       !put("/proc/self/gid_map", identity.gid_map)))
    return 1;
  if (!identity.hosts.empty()) show_hosts(identity.hosts.c_str());
  return ::sethostname(identity.host_name.data(), identity.host_name.size());
}

Identity identity_of(const std::string& host_name) {
  Identity identity;
  identity.host_name = host_name;
  identity.user_namespace = ::geteuid() != 0;
  return identity;
}

}  // namespace

Result<Daemon> start_daemon(Command command,
                            const Layout& layout,
                            const std::string& name,
                            const std::string& host_name) {
  const std::string& folder = layout.spec.folder;
  const std::string out = fmt::format("{}/log/{}.out", folder, name);
  const UniqueFd log(::open(out.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600));
  if (!log.valid()) return fail_errno("cannot create " + out);
  std::vector<std::string> environment = clean_environment(folder);
  for (const std::string& entry : command.env.value_or(std::vector<std::string>{}))
    environment.push_back(entry);
  command.env = std::move(environment);
  command.env->push_back(std::string(k_mark) + "=" + folder);
  command.folder = folder;
  command.stdout_fd = command.stderr_fd = log.get();
  Identity identity = identity_of(layout.own_host_names ? host_name : "");
  identity.hosts = hosts_path(folder);
  command.unshare_flags = identity.unshare_flags();
  command.in_child = [&identity] { return become(identity); };
  DTS_ASSIGN(const pid_t pid, start_process(command));
  return Daemon{name, pid};
}

Result<Programs> find_programs(const ClusterSpec& spec) {
  Programs programs;
  std::string missing;
  std::string packages;
  for (const Need& need : k_needs) {
    if (!needs(spec, need.whom)) continue;
    programs.*need.file = locate(need.program);
    if (!(programs.*need.file).empty()) continue;
    missing += (missing.empty() ? "" : ", ") + std::string(need.program);
    if (packages.find(need.package) == std::string::npos)
      packages += " " + std::string(need.package);
  }
  if (!missing.empty())
    return fail(Errc::not_found,
                "a private Slurm needs programs that are not installed: " + missing,
                "install them: apt-get install --no-install-recommends" + packages);
  return programs;
}

bool can_own_host_name() {
  const Identity identity = identity_of("n0");
  Command command;
  command.argv = {"true"};
  command.unshare_flags = identity.unshare_flags();
  command.in_child = [&identity] { return become(identity); };
  const auto pid = start_process(command);
  if (!pid) return false;
  ::waitpid(*pid, nullptr, 0);
  return true;
}

Result<Daemon> start_controller(const Programs& programs, const Layout& layout) {
  Command command;
  command.argv = {programs.slurmctld, "-D", "-f", conf_path(layout.spec.folder)};
  return start_daemon(
      std::move(command), layout, "slurmctld", layout.endpoints.controller_address());
}

Result<Daemon> start_node(const Programs& programs, const Layout& layout, unsigned node) {
  const std::string name = node_name(layout, node);
  Command command;
  command.argv = {programs.slurmd, "-D", "-N", name, "-f", conf_path(layout.spec.folder)};
  return start_daemon(std::move(command), layout, name, layout.endpoints.node_address(node));
}

Result<void> name_host(const Daemon& daemon) {
  const auto open_namespace = [&daemon](const char* kind) {
    return UniqueFd(
        ::open(fmt::format("/proc/{}/ns/{}", daemon.pid, kind).c_str(), O_RDONLY | O_CLOEXEC));
  };
  const UniqueFd user = open_namespace("user");
  const UniqueFd uts = open_namespace("uts");
  const bool is_root =
      ::geteuid() == 0;  // root enters as it is, and may not enter its own user namespace
  Command command;
  command.argv = {"true"};
  command.in_child = [&] {
    if (!is_root && ::setns(user.get(), CLONE_NEWUSER) != 0) return -1;
    if (::setns(uts.get(), CLONE_NEWUTS) != 0) return -1;
    return ::sethostname(daemon.name.data(), daemon.name.size());
  };
  DTS_ASSIGN(const pid_t pid, start_process(command));
  ::waitpid(pid, nullptr, 0);
  return {};
}

std::vector<std::string> clean_environment(const std::string& folder) {
  constexpr std::array<std::string_view, 7> k_of_other_clusters = {
      "SLURM", "SBATCH_", "SINFO_", "SQUEUE_", "SRUN_", "SALLOC_", "DTSUBMIT_"};
  std::vector<std::string> result = environment_entries();
  std::erase_if(result, [&](const std::string& entry) {
    return std::any_of(k_of_other_clusters.begin(),
                       k_of_other_clusters.end(),
                       [&](std::string_view prefix) { return entry.starts_with(prefix); });
  });
  result.push_back("SLURM_CONF=" + conf_path(folder));
  return result;
}

}  // namespace dts::cluster
