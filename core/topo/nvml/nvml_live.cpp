// SPDX-License-Identifier: Apache-2.0
// add_nvml(): a driver that hangs may block its process forever, even against SIGKILL.
#include "core/base/os/process.hpp"
#include "core/base/os/wait.hpp"
#include "core/topo/json.hpp"
#include "core/topo/nvml/nvml_gpus.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>

namespace dts::topo {
namespace {

using Clock = std::chrono::steady_clock;

// Queries NVML and writes the result to `answer`. The child must not hold up a process that waits
// for our output to end.
[[noreturn]] void answer_in_child(const NodeTopology& node, const char* library, int answer) {
  const rlimit none{0, 0};
  ::setrlimit(RLIMIT_CORE, &none);
  // The caller's signal handlers must not run in this process.
  for (const int number : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT}) ::signal(number, SIG_DFL);
  const int null = ::open("/dev/null", O_RDWR);
  for (const int fd : {0, 1, 2}) ::dup2(null, fd);
  const auto known = read_nvml(library);
  const std::string text = to_json(known ? with_nvml(node, *known) : node);
  const ssize_t written = ::write(answer, text.data(), text.size());  // no handler can cut it short
  ::_exit(written == static_cast<ssize_t>(text.size()) ? 0 : 1);
}

// Reads all data until end of stream or `deadline`, in which case `late` is set.
std::string read_until(int fd, Clock::time_point deadline, bool& late) {
  std::string text;
  for (char buffer[65'536];;) {
    late = !wait_readable(fd, deadline);
    if (late && Clock::now() < deadline) continue;  // a signal interrupted the wait
    const ssize_t got = late ? 0 : ::read(fd, buffer, sizeof buffer);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return text;
    text.append(buffer, static_cast<std::size_t>(got));
  }
}

}  // namespace

NodeTopology add_nvml(NodeTopology node, const char* library, std::chrono::milliseconds limit) {
  Pipe answer;
  const pid_t pid = answer.open() ? ::fork() : -1;
  if (pid == 0) answer_in_child(node, library, answer.write_end.get());
  bool late = false;
  std::string text;
  if (pid > 0) {
    answer.write_end.reset();
    text = read_until(answer.read_end.get(), Clock::now() + limit, late);
    ::kill(pid, SIGKILL);
    ::waitpid(pid, nullptr, late ? WNOHANG : 0);  // a process that hangs ends whenever it can
  }
  if (auto known = from_json(text)) return *std::move(known);
  node.doubts.push_back(fmt::format(
      "NVML {}: neither UUIDs nor NVLinks of the GPUs are known; see whether nvidia-smi works here",
      late ? fmt::format("has not answered within {} s",
                         std::chrono::duration_cast<std::chrono::seconds>(limit).count())
           : "broke off"));
  return node;
}

}  // namespace dts::topo
