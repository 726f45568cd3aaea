// SPDX-License-Identifier: Apache-2.0
// run_process() comes back in time, whatever the program makes of its end.
#include "core/base/os/process.hpp"

#include "tests/support/contains.hpp"

#include <doctest/doctest.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <thread>

namespace dts {
namespace {

using namespace std::chrono_literals;

using dts::tests::contains;

struct Pids {
  pid_t program = 0;
  pid_t tracer = 0;  // 0: there is none, the kernel refuses
};

// A program that seems to live on after SIGKILL, until the tracer ends: to its parent, who is
// traced by another has not ended before that one has seen it (ptrace(2)). Async-signal-safe.
int be_traced(const Pipe& pids) {
  Pipe ready;
  if (!ready.open()) return 1;
  const pid_t program = ::getpid();
  ::prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY);
  const pid_t tracer = ::fork();
  if (tracer == 0) {
    ::setpgid(0, 0);  // not to be killed with the program
    const bool seized = ::ptrace(PTRACE_SEIZE, program, nullptr, nullptr) == 0;
    const Pids told{program, seized ? ::getpid() : 0};
    if (::write(pids.write_end.get(), &told, sizeof told) != sizeof told) ::_exit(1);
    ::close_range(1, ~0U, 0);  // nobody is to wait for what it holds open
    if (seized) ::sleep(300);
    ::_exit(0);
  }
  ready.write_end.reset();
  char byte = 0;
  return ::read(ready.read_end.get(), &byte, 1) == 0 ? 0 : 1;
}

// Starts a program while the user may have no further process for a moment. As root there is no
// such limit: as another user, in a process of its own.
int start_at_the_limit() {
  constexpr uid_t k_nobody = 65534;
  if (::getuid() == 0 && ::setuid(k_nobody) != 0) return 2;
  rlimit usual{};
  if (::getrlimit(RLIMIT_NPROC, &usual) != 0) return 3;
  std::thread waker([usual] {
    std::this_thread::sleep_for(300ms);
    ::setrlimit(RLIMIT_NPROC, &usual);
  });
  rlimit none = usual;
  none.rlim_cur = 0;
  ::setrlimit(RLIMIT_NPROC, &none);
  Command command;
  command.argv = {"/bin/true"};
  const auto started = start_process(command);
  waker.join();
  return started && ::waitpid(*started, nullptr, 0) == *started ? 0 : 4;
}

}  // namespace

TEST_CASE("a program that SIGKILL does not end is left behind, by its number") {
  Pipe pids;
  REQUIRE(pids.open());
  Command command;
  command.argv = {"sleep", "300"};
  command.in_child = [&] { return be_traced(pids); };
  const auto start = std::chrono::steady_clock::now();
  const auto output = run_process(command, 200ms);
  CHECK(std::chrono::steady_clock::now() - start < 60s);
  pids.write_end.reset();
  Pids told;
  REQUIRE(::read(pids.read_end.get(), &told, sizeof told) == sizeof told);
  REQUIRE_FALSE(output);
  if (told.tracer == 0) {
    MESSAGE("skipped: no process may trace another here");
    return;
  }
  CHECK(output.error().code == Errc::timed_out);
  CHECK(contains(output.error().message, "timed out"));
  CHECK(contains(output.error().message,
                 "SIGKILL does not end it: process " + std::to_string(told.program)));
  ::kill(told.tracer, SIGKILL);
  int status = 0;
  CHECK(::waitpid(told.program, &status, 0) == told.program);
  CHECK(exit_code_of_wait_status(status) == 128 + SIGKILL);
}

TEST_CASE("a program that has closed its output and goes on is timed out too") {
  Command command;
  command.argv = {"sh", "-c", "exec >&- 2>&-; sleep 300"};
  const auto start = std::chrono::steady_clock::now();
  const auto output = run_process(command, 300ms);
  CHECK(std::chrono::steady_clock::now() - start < 60s);
  REQUIRE_FALSE(output);
  CHECK(output.error().code == Errc::timed_out);
  CHECK(contains(output.error().message, "timed out"));
}

TEST_CASE(
    "a limit of processes that is reached for a moment does not keep a program from starting") {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(start_at_the_limit());
  int status = -1;
  REQUIRE(::waitpid(child, &status, 0) == child);
  CHECK(status == 0);
}

}  // namespace dts
