// SPDX-License-Identifier: Apache-2.0
// Starts libslurm: see the header. The fatal cases were tested on 22.05.8, see tests/contract.
#include "plugins/slurm/library.hpp"

#include <dlfcn.h>
#include <slurm/slurm.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cctype>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <mutex>
#include <optional>
#include <string_view>
#include <thread>

namespace slurm_plugin {
namespace {

constexpr const char* k_places[] = {
    "/etc/slurm/slurm.conf", "/etc/slurm-llnl/slurm.conf", "/run/slurm/conf/slurm.conf"};
constexpr const char* k_hint =
    "start a private Slurm with `eval \"$(dtsubmit cluster up)\"`, or set SLURM_CONF to the "
    "cluster's slurm.conf";
constexpr int k_exit_unreachable = 4;  // dtsubmit's exit code for "no scheduler"
constexpr auto k_probe_limit = std::chrono::seconds(10);

std::atomic<bool> g_starting{false};

// Runs before all other exit handlers when slurm_init calls exit(1); libslurm has printed the
// reason by then.
void on_exit_inside_library() {
  if (!g_starting.load()) return;
  constexpr std::string_view words =
      "dtsubmit: error: Slurm's library refuses its configuration (see above)\n";
  [[maybe_unused]] const ssize_t written = write(STDERR_FILENO, words.data(), words.size());
  _exit(k_exit_unreachable);
}

// "KEY=..." or "include ..." at the start of a line, in any case, as slurm.conf(5) reads it.
bool starts_with_word(std::string_view line, std::string_view word) {
  if (line.size() <= word.size()) return false;
  for (std::size_t i = 0; i < word.size(); ++i)
    if (std::tolower(static_cast<unsigned char>(line[i])) != word[i]) return false;
  return line[word.size()] == '=' || line[word.size()] == ' ' || line[word.size()] == '\t';
}

std::string_view trimmed(std::string_view text) {
  const auto blank = " \t\r";
  const std::size_t first = text.find_first_not_of(blank);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(blank) - first + 1);
}

struct Findings {
  bool cluster_name = false;
  bool controller = false;
};

Outcome<void> read_configuration(const std::string& path, Findings& found, int depth) {
  std::ifstream file(path);
  if (!file || access(path.c_str(), R_OK) != 0)
    return failed("unreachable", "cannot read Slurm's configuration " + path, k_hint);
  for (std::string text; std::getline(file, text);) {
    const std::string_view line = trimmed(text);
    if (starts_with_word(line, "clustername")) found.cluster_name = true;
    if (starts_with_word(line, "slurmctldhost") || starts_with_word(line, "controlmachine"))
      found.controller = true;
    if (!starts_with_word(line, "include") || depth > 8) continue;
    std::string included(trimmed(line.substr(std::strlen("include"))));
    if (included.find('%') != std::string::npos) continue;  // "%c", the cluster's name
    if (included.front() != '/') included.insert(0, path, 0, path.rfind('/') + 1);
    if (auto outcome = read_configuration(included, found, depth + 1); !outcome) return outcome;
  }
  return {};
}

// The first "error: ..." in libslurm's output, without the prefix; empty if there is none.
std::string first_error(const std::string& log) {
  constexpr std::string_view mark = "error: ";
  const std::size_t at = log.find(mark);
  if (at == std::string::npos) return {};
  const std::size_t from = at + mark.size();
  return log.substr(from, log.find('\n', from) - from);
}

// Starts the library in a child process whose standard error is `log_fd`, and waits. False if it
// failed or exceeded the time limit.
bool probe_in_child(int log_fd) {
  std::fflush(nullptr);  // libslurm flushes before it logs: buffered output must not appear twice
  const pid_t child = fork();
  if (child < 0) return false;
  if (child == 0) {
    dup2(log_fd, STDERR_FILENO);
    // Runs before the parent's own handlers and before its buffered output is written.
    std::atexit([] { _exit(1); });
    slurm_init(nullptr);
    _exit(0);
  }
  const auto deadline = std::chrono::steady_clock::now() + k_probe_limit;
  auto pause = std::chrono::microseconds(200);
  while (std::chrono::steady_clock::now() < deadline) {
    int status = 0;
    const pid_t ended = waitpid(child, &status, WNOHANG);
    if (ended == child) return WIFEXITED(status) && WEXITSTATUS(status) == 0;
    if (ended < 0 && errno != EINTR) return false;
    std::this_thread::sleep_for(pause);
    pause = std::min(pause * 2, std::chrono::microseconds(50000));
  }
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  return false;
}

Outcome<void> probe_library(const std::string& path) {
  const int log_fd = memfd_create("slurm-probe", MFD_CLOEXEC);
  const bool good = probe_in_child(log_fd);
  std::string log(4096, '\0');
  const ssize_t size = pread(log_fd, log.data(), log.size(), 0);
  log.resize(size > 0 ? static_cast<std::size_t>(size) : 0);
  close(log_fd);
  if (good) return {};
  if (path.empty())
    return failed("unreachable", "no Slurm here: no slurm.conf, and no controller in DNS", k_hint);
  return failed("unreachable",
                "Slurm's library refuses its configuration " + path + ": " + first_error(log),
                "correct the file, or set SLURM_CONF to another one");
}

Outcome<void> start(bool probe) {
  const std::string path = configuration_file();
  if (!path.empty())
    if (auto outcome = check_configuration(path); !outcome) return outcome;
  if (probe || path.empty())
    if (auto outcome = probe_library(path); !outcome) return outcome;
  // libslurm's own plug-ins (authentication) resolve its symbols in the global scope, but this
  // plug-in and its dependencies were loaded with local scope.
  if (dlopen(LIBSLURM_SONAME, RTLD_NOW | RTLD_NOLOAD | RTLD_GLOBAL) == nullptr)
    return failed("internal", std::string("cannot make libslurm's symbols global: ") + dlerror());
  if (std::atexit(on_exit_inside_library) != 0)
    return failed("internal", "no room for an exit handler");
  g_starting = true;
  slurm_init(nullptr);
  g_starting = false;
  return {};
}

}  // namespace

std::string configuration_file() {
  if (const char* named = std::getenv("SLURM_CONF"); named != nullptr && *named != '\0')
    return named;
  for (const char* place : k_places)
    if (access(place, F_OK) == 0) return place;
  return {};
}

Outcome<void> check_configuration(const std::string& path) {
  Findings found;
  if (auto outcome = read_configuration(path, found, 0); !outcome) return outcome;
  if (!found.cluster_name)
    return failed("unreachable", "Slurm's configuration " + path + " has no ClusterName", k_hint);
  if (!found.controller)
    return failed("unreachable", "Slurm's configuration " + path + " has no SlurmctldHost", k_hint);
  return {};
}

Outcome<void> open_library(bool probe) {
  static std::mutex mutex;
  static std::optional<Outcome<void>> outcome;
  const std::lock_guard lock(mutex);
  if (!outcome || !*outcome) outcome = start(probe);
  return *outcome;
}

}  // namespace slurm_plugin
