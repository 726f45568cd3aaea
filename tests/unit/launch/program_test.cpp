// SPDX-License-Identifier: Apache-2.0
// A rank's program: its log, its environment, its end, and that no process of it survives. Each
// test runs in a child that is a subreaper, like `dtsubmit rank`.
#include "core/launch/program/program.hpp"

#include "core/base/text/text.hpp"
#include "core/launch/program/stop_target.hpp"
#include "tests/support/temporary_folder.hpp"

#include <doctest/doctest.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <functional>
#include <thread>

namespace {

using namespace dts;
using namespace dts::launch;
using namespace std::chrono_literals;
using tests::TemporaryFolder;

// One program and its log.
struct Rank {
  const TemporaryFolder& folder;
  Program program;
  bool timestamps = false;

  [[nodiscard]] std::string log() const { return folder.file("rank-0.log"); }

  [[nodiscard]] std::string text() const { return read_file(log()).value_or(""); }

  bool start(std::vector<std::string> argv,
             std::vector<std::pair<std::string, std::string>> environment = {}) {
    return program.start(argv, environment, {log(), timestamps}, {}).has_value();
  }

  bool shell(const std::string& script) { return start({"/bin/sh", "-c", script}); }

  // The exit code; -1 after 10 s.
  int end() {
    for (const auto until = std::chrono::steady_clock::now() + 10s;
         std::chrono::steady_clock::now() < until;) {
      if (const auto code = program.reap()) return *code;
      std::this_thread::sleep_for(5ms);
    }
    return -1;
  }

  // Waits until the log has a complete first line, and returns it.
  std::string first_line() {
    for (const auto until = std::chrono::steady_clock::now() + 10s;
         std::chrono::steady_clock::now() < until;) {
      const std::string all = text();
      if (const std::size_t end = all.find('\n'); end != std::string::npos)
        return all.substr(0, end);
      std::this_thread::sleep_for(5ms);
    }
    return "";
  }
};

int as_rank(const std::function<int(Rank&)>& body) {
  const TemporaryFolder folder;
  return tests::in_child([&] {
    ::prctl(PR_SET_CHILD_SUBREAPER, 1);
    Rank rank{folder, {}};
    return body(rank);
  });
}

bool is_no_more(const std::string& pid) {
  const auto number = parse_number(pid);
  return number && ::kill(static_cast<pid_t>(*number), 0) != 0;
}

}  // namespace

TEST_CASE("a program's exit code is its own, or 128 + its signal") {
  CHECK(as_rank([](Rank& rank) { return rank.shell("exit 0") ? rank.end() : 99; }) == 0);
  CHECK(as_rank([](Rank& rank) { return rank.shell("exit 85") ? rank.end() : 99; }) == 85);
  CHECK(as_rank([](Rank& rank) { return rank.shell("kill -9 $$") ? rank.end() : 99; }) == 137);
}

TEST_CASE("another child of the rank is neither collected nor killed, however the program ends") {
  CHECK(as_rank([](Rank& rank) {
          const pid_t other = ::fork();
          if (other == 0) {
            std::this_thread::sleep_for(1s);
            ::_exit(7);
          }
          if (!rank.shell("exit 0")) return 1;
          while (!rank.program.reap({other}))
            if (!rank.program.running()) return 2;
          if (!rank.program.left_running().empty()) return 3;
          std::this_thread::sleep_for(1500ms);
          if (rank.program.reap({other})) return 4;
          int status = 0;
          return ::waitpid(other, &status, WNOHANG) == other && WEXITSTATUS(status) == 7 ? 0 : 5;
        }) == 0);
}

TEST_CASE("both streams are appended to the log, which only the owner can read") {
  CHECK(as_rank([](Rank& rank) {
          for (const char* word : {"one", "two"}) {
            if (!rank.shell(std::string("echo ") + word + "; echo err-" + word + " >&2") ||
                rank.end() != 0)
              return 1;
          }
          return rank.text() == "one\nerr-one\ntwo\nerr-two\n" ? 0 : 2;
        }) == 0);
}

TEST_CASE("the arguments of the command and the variables arrive unchanged") {
  CHECK(as_rank([](Rank& rank) {
          if (!rank.start({"/bin/sh",
                           "-c",
                           "printf '%s|' \"$@\" \"$RANK\" \"$ODD\"",
                           "sh",
                           "a b",
                           "'q'",
                           "$(x)",
                           "",
                           "\xc3\xa9"},
                          {{"RANK", "3"}, {"ODD", "x=y z"}}))
            return 1;
          if (rank.end() != 0) return 2;
          return rank.text() == "a b|'q'|$(x)||\xc3\xa9|3|x=y z|" ? 0 : 3;
        }) == 0);
}

TEST_CASE("a program that cannot be started is an error now, not an exit code later") {
  const auto error_of = [](const char* name) {
    const TemporaryFolder folder;
    Program program;
    const auto started = program.start({name}, {}, {folder.file("log")}, {});
    CHECK_FALSE(program.running());
    return started ? Errc::internal : started.error().code;
  };
  CHECK(error_of("/nonexistent/program") == Errc::not_found);
  CHECK(error_of("no-such-program-anywhere") == Errc::not_found);
  CHECK(error_of("/etc/passwd") == Errc::invalid);  // not executable
  CHECK(error_of("/tmp") == Errc::invalid);         // a folder
  Program program;
  CHECK_FALSE(program.start({"/bin/true"}, {}, {"/dev/null/log"}, {}));
}

TEST_CASE("the stop signal reaches the program, not its workers") {
  CHECK(as_rank([](Rank& rank) {
          // The worker would write if the signal reached it too. It reports ready after both traps.
          if (!rank.shell("trap 'echo saved; exit 85' TERM; (trap 'echo worker; exit' TERM; "
                          "echo ready; while :; do sleep 0.05; done) & wait"))
            return 1;
          if (rank.first_line() != "ready") return 2;
          rank.program.signal(SIGTERM);
          if (rank.end() != 85) return 3;
          return rank.text() == "ready\nsaved\n" ? 0 : 4;
        }) == 0);
}

// Programs that run another without `exec`. The inner one reports ready once its trap is set.
const std::string k_inner =
    "sh -c 'trap \"sleep 0.2; echo saved; exit 85\" TERM; echo ready; "
    "while :; do sleep 0.05; done'";

TEST_CASE("a shell without exec is skipped: the program that handles the signal gets it") {
  for (const std::string& script :
       {k_inner + "; exit $?",
        k_inner + " | cat; exit 85",
        "sh -c '" + std::string("sh -c \"trap \\\"echo saved; exit 85\\\" "
                                "TERM; echo ready; while :; do sleep "
                                "0.05; done\"; exit $?'; exit $?")}) {
    CAPTURE(script);
    CHECK(as_rank([&](Rank& rank) {
            if (!rank.start({"/bin/bash", "-c", script})) return 1;
            if (rank.first_line() != "ready") return 2;
            rank.program.signal(SIGTERM);
            if (rank.end() != 85) return 3;
            return rank.text() == "ready\nsaved\n" ? 0 : 4;
          }) == 0);
  }
}

TEST_CASE("a tracer's own handler does not save: the program below it gets the signal") {
  CHECK(as_rank([](Rank& rank) {
          // A shell by the name of one.
          const std::string traced = "trap 'exit 1' TERM; " + k_inner + "; exit $?";
          if (!rank.start({"/bin/bash", "-c", "exec -a strace bash -c \"$TRACED\""},
                          {{"TRACED", traced}}))
            return 1;
          if (rank.first_line() != "ready") return 2;
          rank.program.signal(SIGTERM);
          return rank.end();
        }) == 85);
}

// True once a process below the program would get the stop signal, as soon as its parents wait for
// it.
bool waits_for_inner(const Rank& rank) {
  for (const auto until = std::chrono::steady_clock::now() + 10s;
       std::chrono::steady_clock::now() < until;) {
    if (stop_targets(rank.program.pid(), SIGTERM).front() != rank.program.pid()) return true;
    std::this_thread::sleep_for(5ms);
  }
  return false;
}

// Starts Python's `name` in the rank's folder, which starts k_inner; `handler` is Python, too.
bool start_launcher(Rank& rank, const std::string& name, const std::string& handler) {
  const std::string file = rank.folder.file(name);
  const std::string text = "import os, signal, subprocess, sys\n" + handler +
                           "sys.exit(subprocess.call(['/bin/sh', '-c', os.environ['PROGRAM']]))\n";
  return write_file(file, text).has_value() &&
         rank.start({"/usr/bin/env", "python3", "-u", file, "launch"},
                    {{"PROGRAM", "exec " + k_inner}}) &&
         rank.first_line() == "ready" && waits_for_inner(rank);
}

TEST_CASE("a launcher without a handler is skipped, and does not take its program with it") {
  INFO("at 2 and more the kernel may not show what waits: kernel.yama.ptrace_scope = ",
       read_file("/proc/sys/kernel/yama/ptrace_scope").value_or("0"));
  for (const char* name : {"accelerate", "a script that waits.py"})
    for (const bool is_of_scheduler : {false, true}) {
      CAPTURE(name);
      CAPTURE(is_of_scheduler);
      CHECK(as_rank([&](Rank& rank) {
              if (!start_launcher(rank, name, "")) return 1;
              rank.program.poll();
              if (!is_of_scheduler) rank.program.signal(SIGTERM);
              rank.program.expect_stop(SIGTERM);
              if (is_of_scheduler) ::kill(-rank.program.pid(), SIGTERM);
              return rank.end();
            }) == 85);
    }
}

TEST_CASE("a launcher whose handler ends its workers is skipped as well") {
  CHECK(as_rank([](Rank& rank) {
          const std::string handler = "signal.signal(signal.SIGTERM, lambda *_: os._exit(1))\n";
          if (!start_launcher(rank, "deepspeed.launcher.launch", handler)) return 1;
          rank.program.signal(SIGTERM);
          return rank.end();
        }) == 85);
}

TEST_CASE("uv run passes the signal on to its child only: the program below a shell gets it") {
  CHECK(as_rank([](Rank& rank) {
          const std::string handler =
              "def pass_on(*_):\n  os.kill(child.pid, signal.SIGTERM)\n"
              "signal.signal(signal.SIGTERM, pass_on)\n"
              "child = subprocess.Popen(['/bin/bash', '-c', os.environ['PROGRAM'][5:] + '; exit "
              "$?'])\n"
              "sys.exit(child.wait())\n";
          if (!start_launcher(rank, "uv", handler)) return 1;
          rank.program.signal(SIGTERM);
          return rank.end();
        }) == 85);
}

TEST_CASE("bubblewrap, which does not wait in the kernel for its program, is skipped") {
  CHECK(as_rank([](Rank& rank) {
          const std::string monitor =
              "import time\n"
              "child = subprocess.Popen(['/bin/sh', '-c', os.environ['PROGRAM']])\n"
              "while child.poll() is None:\n  time.sleep(0.05)\n"
              "sys.exit(child.returncode)\n";
          if (!start_launcher(rank, "bwrap", monitor)) return 1;
          rank.program.signal(SIGTERM);
          return rank.end();
        }) == 85);
}

// The exit code of a program that is polled as `dtsubmit rank` does, -1 after 10 s.
int end_of_polled(Rank& rank) {
  for (int i = 0; i < 200; ++i) {
    if (const auto code = rank.program.reap()) return *code;
    rank.program.poll();
    std::this_thread::sleep_for(50ms);
  }
  return -1;
}

// Runs `text`, a program of Python without a handler, and asks it to stop once its log begins with
// "ready"; its exit code.
int end_of_python(Rank& rank, const std::string& text) {
  const std::string file = rank.folder.file("train.py");
  if (!write_file(file, "import os, subprocess, sys, time\n" + text) ||
      !rank.start({"/usr/bin/env", "python3", "-u", file}, {{"PROGRAM", "exec " + k_inner}}) ||
      rank.first_line() != "ready")
    return -2;
  std::this_thread::sleep_for(100ms);
  rank.program.signal(SIGTERM);
  return end_of_polled(rank);
}

TEST_CASE("a program that only waits for a helper at the moment of the stop is asked itself") {
  const std::string run = "subprocess.run(['/bin/sh', '-c', os.environ['PROGRAM']])\n";
  for (const std::string& text : std::vector<std::string>{
           "time.sleep(1)\n" + run + "time.sleep(60)\n",  // an upload between two steps
           run + "time.sleep(60)\n",                      // a preparation
           // A helper with a handler, and a trainer without.
           "subprocess.Popen(['/bin/sh', '-c', 'trap : TERM; while :; do sleep 0.05; done'])\n"
           "subprocess.run(['/bin/sh', '-c', 'echo ready; exec sleep 60'])\n"}) {
    CAPTURE(text);
    CHECK(as_rank([&](Rank& rank) { return end_of_python(rank, text); }) == 128 + SIGTERM);
  }
}

// Ends by itself after `seconds`, without its handler, as Python does.
int end_without_handler(Rank& rank, const std::string& seconds) {
  const std::string script =
      "trap : TERM; echo ready; while [ ! -e \"$GO\" ]; do sleep 0.02; done; trap - TERM; "
      "echo saved; sleep " +
      seconds + "; exit 85";
  if (!rank.start({"/bin/sh", "-c", script}, {{"GO", rank.folder.file("go")}})) return 1;
  if (rank.first_line() != "ready") return 2;
  rank.program.poll();
  if (!write_file(rank.folder.file("go"), "")) return 3;
  for (const auto until = std::chrono::steady_clock::now() + 10s;
       rank.text() != "ready\nsaved\n";) {
    if (std::chrono::steady_clock::now() > until) return 4;
    std::this_thread::sleep_for(5ms);
  }
  rank.program.signal(SIGTERM);
  return end_of_polled(rank);
}

TEST_CASE("a program that has removed its handler may be about to end, and is asked later") {
  CHECK(as_rank([](Rank& rank) { return end_without_handler(rank, "0.5"); }) == 85);
  CHECK(as_rank([](Rank& rank) { return end_without_handler(rank, "60"); }) == 128 + SIGTERM);
}

TEST_CASE("xargs is skipped as well: it waits for its program") {
  INFO("at 2 and more the kernel may not show what waits: kernel.yama.ptrace_scope = ",
       read_file("/proc/sys/kernel/yama/ptrace_scope").value_or("0"));
  CHECK(as_rank([](Rank& rank) {
          const std::string script = "printf %s \"$PROGRAM\" | xargs -0 sh -c";
          if (!rank.start({"/bin/sh", "-c", script}, {{"PROGRAM", k_inner}})) return 1;
          if (rank.first_line() != "ready" || !waits_for_inner(rank)) return 2;
          rank.program.signal(SIGTERM);
          return rank.end() > 0 && rank.text() == "ready\nsaved\n" ? 0 : 3;
        }) == 0);
}

TEST_CASE("a shell killed by the scheduler's own signal does not take its program with it") {
  CHECK(as_rank([](Rank& rank) {
          if (!rank.start({"/bin/bash", "-c", k_inner + "; exit $?"})) return 1;
          if (rank.first_line() != "ready") return 2;
          rank.program.poll();
          rank.program.expect_stop(SIGTERM);
          ::kill(-rank.program.pid(), SIGTERM);  // as proctrack/linuxproc does
          if (rank.end() != 85) return 3;
          return rank.text().find("saved\n") != std::string::npos ? 0 : 4;
        }) == 0);
}

TEST_CASE("a shell that dies from an unrequested signal ends the program") {
  CHECK(as_rank([](Rank& rank) {
          if (!rank.start({"/bin/bash", "-c", k_inner + "; exit $?"})) return 1;
          if (rank.first_line() != "ready") return 2;
          ::kill(rank.program.pid(), SIGTERM);
          return rank.end() == 143 ? 0 : 3;
        }) == 0);
}

TEST_CASE("a program that handles no signal gets it itself, whatever it runs") {
  CHECK(as_rank([](Rank& rank) {
          if (!rank.shell("echo ready; sleep 60; exit 1") || rank.first_line() != "ready") return 1;
          rank.program.signal(SIGTERM);
          return rank.end() == 143 ? 0 : 2;
        }) == 0);
}

TEST_CASE("a kill ends the whole process group") {
  CHECK(as_rank([](Rank& rank) {
          if (!rank.shell("trap '' TERM; sleep 60 & echo $!; wait")) return 1;
          const std::string worker = rank.first_line();
          rank.program.kill();
          if (rank.end() != 137) return 2;
          return is_no_more(worker) ? 0 : 3;
        }) == 0);
}

TEST_CASE("workers of a program that ended by itself are killed") {
  CHECK(as_rank([](Rank& rank) {
          if (!rank.shell("sleep 60 & echo $!; exit 0")) return 1;
          const std::string worker = rank.first_line();
          if (rank.end() != 0) return 2;
          if (rank.program.left_running() != "sleep 60") return 4;
          return is_no_more(worker) ? 0 : 3;
        }) == 0);
}

TEST_CASE("a helper that follows its program is not left running") {
  CHECK(as_rank([](Rank& rank) {
          if (!rank.shell("sleep 0.05 & exit 0")) return 1;
          return rank.end() == 0 && rank.program.left_running().empty() ? 0 : 2;
        }) == 0);
}

TEST_CASE("an orphan that called setsid and forked twice is killed too") {
  CHECK(as_rank([](Rank& rank) {
          if (!rank.shell(
                  "setsid sh -c 'sh -c \"echo \\$\\$; exec sleep 60\" & exit' & wait; exit 7"))
            return 1;
          const std::string orphan = rank.first_line();
          if (rank.end() != 7) return 2;
          return is_no_more(orphan) ? 0 : 3;
        }) == 0);
}

TEST_CASE("an orphan that ends while the program runs does not end the program") {
  CHECK(as_rank([](Rank& rank) {
          if (!rank.shell("(sh -c 'sleep 0.05' & ); sleep 0.3; echo done")) return 1;
          return rank.end() == 0 && rank.text() == "done\n" ? 0 : 2;
        }) == 0);
}

TEST_CASE("a program dies with the rank process that started it") {
  const TemporaryFolder folder;
  CHECK(tests::in_child([&] {
          Rank rank{folder, {}};
          if (!rank.shell("echo $$; exec sleep 60")) return 1;
          return rank.first_line().empty() ? 2 : 0;
        }) == 0);
  const std::string pid = std::string(trim(read_file(folder.file("rank-0.log")).value()));
  bool gone = false;
  for (int i = 0; i < 400 && !gone; ++i) {
    gone = is_no_more(pid);
    std::this_thread::sleep_for(5ms);
  }
  CHECK(gone);
}

TEST_CASE("a signal or a kill without a program has no effect") {
  Program program;
  program.signal(SIGTERM);
  program.kill();
  CHECK_FALSE(program.running());
}

TEST_CASE("with timestamps both streams keep one order, and the log is complete at the end") {
  CHECK(as_rank([](Rank& rank) {
          rank.timestamps = true;
          if (!rank.shell("for i in 1 2 3; do echo out $i; echo err $i >&2; done; exit 7"))
            return 1;
          if (rank.end() != 7) return 2;
          std::string words;
          for (const std::string& line : split(rank.text(), '\n')) {
            if (line.empty()) continue;
            if (line.size() < 26 || line[10] != 'T' || line.substr(23, 2) != "Z ") return 3;
            words += line.substr(25) + ";";
          }
          return words == "out 1;err 1;out 2;err 2;out 3;err 3;" ? 0 : 4;
        }) == 0);
}
