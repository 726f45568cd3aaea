// SPDX-License-Identifier: Apache-2.0
// Initialises libslurm, which ends the process if it rejects its configuration. The fatal cases
// were tested on 22.05.8, see tests/contract.
#include "plugins/slurm_shared/configuration.hpp"
#include "plugins/slurm_shared/failure.hpp"
#include "plugins/slurm_shared/operations.hpp"

#include <dlfcn.h>
#include <slurm/slurm.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <optional>
#include <string_view>
#include <thread>

namespace slurm_plugin {
namespace {

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

// The first "error: ..." in libslurm's output, without the prefix; empty if there is none.
std::string first_error(const std::string& log) {
  constexpr std::string_view mark = "error: ";
  const std::size_t at = log.find(mark);
  if (at == std::string::npos) return {};
  const std::size_t from = at + mark.size();
  return log.substr(from, log.find('\n', from) - from);
}

// Initialises the library in a child process whose standard error is `log_fd`, and waits for it.
// False if it failed or exceeded the time limit.
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
  const std::string said = first_error(log);
  if (const char* server = std::getenv("SLURM_CONF_SERVER"); path.empty() && server != nullptr)
    return failed("unreachable",
                  std::string("cannot get Slurm's configuration from SLURM_CONF_SERVER (") +
                      server + "): " + (said.empty() ? "no answer" : said),
                  "is munge running here, and slurmctld there with "
                  "SlurmctldParameters=enable_configless?");
  if (path.empty())
    return failed("unreachable",
                  "no Slurm here: no slurm.conf, and no controller in DNS",
                  meanings::k_no_configuration.hint);
  return failed("unreachable",
                "Slurm's library refuses its configuration " + path + ": " + said,
                "correct the file, or set SLURM_CONF to another one");
}

// libslurm's own plug-ins resolve its symbols in the global scope, but this plug-in and its
// dependencies were loaded with local scope.
//
// Since 23.11 slurm_init() loads plug-ins of Slurm (credentials) that use functions which libslurm
// does not export; only libslurmfull.so, the library of Slurm's own commands, does. A function
// that is still missing ends the process when it is called.
Outcome<void> make_symbols_global() {
  if (dlopen(LIBSLURM_SONAME, RTLD_NOW | RTLD_NOLOAD | RTLD_GLOBAL) == nullptr)
    return failed("internal", std::string("cannot make libslurm's symbols global: ") + dlerror());
  Dl_info here{};
  if (SLURM_VERSION_NUMBER < SLURM_VERSION_NUM(23, 11, 0)) return {};
  if (dladdr(reinterpret_cast<const void*>(&slurm_init), &here) == 0) return {};  // NOLINT
  const std::string file = here.dli_fname;
  const std::string folder = file.substr(0, file.rfind('/'));
  for (const char* below : {"/slurm", "/slurm-wlm"})  // Debian calls it slurm-wlm
    if (dlopen((folder + below + "/libslurmfull.so").c_str(), RTLD_LAZY | RTLD_GLOBAL) != nullptr)
      break;
  return {};
}

Outcome<void> start(bool probe) {
  const std::string path = configuration_file();
  if (!path.empty())
    if (auto outcome = check_configuration(path); !outcome) return outcome;
  if (auto outcome = make_symbols_global(); !outcome) return outcome;
  if (probe || path.empty())
    if (auto outcome = probe_library(path); !outcome) return outcome;
  if (std::atexit(on_exit_inside_library) != 0)
    return failed("internal", "no room for an exit handler");
  g_starting = true;
  slurm_init(nullptr);
  g_starting = false;
  return {};
}

}  // namespace

// Reads the configuration once per process; later calls return the outcome of the first. With
// `probe`, a child process tries it first, which costs some 3 ms. Without it, a broken file ends
// the process with exit code 4 and a message.
Outcome<void> open_slurm(bool probe) {
  static std::mutex mutex;
  static std::optional<Outcome<void>> outcome;
  const std::lock_guard lock(mutex);
  if (!outcome || !*outcome) outcome = start(probe);
  return *outcome;
}

}  // namespace slurm_plugin
